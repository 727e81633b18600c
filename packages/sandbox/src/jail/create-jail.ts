import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { Cgroups } from './cgroups.ts'
import { copyDisk, type Disk, makeDisk, makeSudo, measureDisk, removeDisk } from './disk.ts'
import { mountImage } from './disk-image.ts'
import { drainMounts } from './drain-mounts.ts'
import { Exit } from './egress/exit.ts'
import { openExit } from './egress/open-exit.ts'
import { findHelper } from './helper.ts'
import {
  type EgressRules,
  type Jail,
  type JailCommand,
  type JailOptions,
  type JailProcess,
  JailStartError,
  type JailUsage,
} from './jail.ts'
import { readLines } from './lines.ts'
import { Plan } from './plan.ts'
import { processesOf } from './processes.ts'
import { Relay } from './relay.ts'
import { startInside } from './start.ts'
import { continueAll, stopAll } from './stop-all.ts'
import { sweep, writeOwner } from './sweep.ts'
import { chooseUsers, isRoot } from './users.ts'

/** How long `kill()` waits for mounts inside to hand in what they hold. */
const drainMs = 5000
const idPattern = /^[a-z0-9]{1,40}$/

/** Makes a jail in which nothing runs yet. What fails leaves nothing behind. */
export async function createJail(options: JailOptions): Promise<Jail> {
  const id = options.id ?? randomBytes(10).toString('hex')
  if (!idPattern.test(id))
    throw new Error(`cannot make a jail ${id}: an id has lower-case letters and digits alone`)
  const helper = await findHelper()
  const directory = join(options.directory, id)
  await mkdir(options.directory, { recursive: true, mode: 0o700 })
  await sweep(options.directory)
  // No other user may enter: a file that a jail's root made setuid belongs, on the disk, to the
  // host's root.
  await mkdir(directory, { mode: 0o700 })
  let cgroups: Cgroups | undefined
  try {
    cgroups = Cgroups.create(id, options.limits ?? {})
    await writeOwner(directory, cgroups.directories)
    const disk = await prepareDisk(options, directory, id)
    const users = chooseUsers()
    const plan = new Plan({
      directory,
      disk,
      users,
      hostname: options.hostname ?? id,
      binds: options.binds ?? [],
      doors: cgroups.doors,
      memoryBytes: options.limits?.memoryBytes,
    })
    const first = await startFirst(helper, plan)
    const jail = new NamespaceJail({ id, helper, directory, disk, cgroups, ...first })
    if (options.network === 'egress') await openOrEnd(jail, options)
    return jail
  } catch (error) {
    await cgroups?.remove()
    await removeDisk(directory)
    throw error
  }
}

async function openOrEnd(jail: NamespaceJail, { egress, outside }: JailOptions): Promise<void> {
  try {
    await jail.openExit(new Exit(egress ?? {}, outside))
  } catch (error) {
    await jail.kill()
    throw error
  }
}

async function prepareDisk(options: JailOptions, directory: string, id: string): Promise<Disk> {
  const { base = 'host', hostname = id, network, limits } = options
  if (limits?.diskBytes !== undefined)
    await mountImage(directory, options.directory, limits.diskBytes)
  const disk = await makeDisk(join(directory, 'disk'), options.directory, base)
  const etc = join(disk.directory, disk.record.base === 'host' ? 'etc/upper' : 'root/upper/etc')
  await mkdir(etc, { recursive: true })
  if (!isRoot()) await makeSudo(disk)
  await mkdir(join(directory, 'stage'))
  const names = network === 'egress' ? 'nameserver 127.0.0.53\n' : '# no network\n'
  for (const name of ['resolv.conf', 'mtab']) await rm(join(etc, name), { force: true })
  // A Debian that was not booted lacks it, and fusermount of FUSE 2 does not unmount without.
  await symlink('/proc/self/mounts', join(etc, 'mtab'))
  await writeFile(join(etc, 'resolv.conf'), names)
  await writeFile(join(etc, 'hostname'), `${hostname}\n`)
  await writeFile(join(etc, 'hosts'), `127.0.0.1 localhost\n::1 localhost\n127.0.1.1 ${hostname}\n`)
  return disk
}

interface First {
  readonly pid: number
  readonly helperProcess: ChildProcess
}

/** Process 1 of the jail, once everything is in its place. */
async function startFirst(helper: string, plan: Plan): Promise<First> {
  const child = spawn(helper, ['init'], {
    argv0: 'init',
    env: {},
    cwd: '/',
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
  })
  let pid = 0
  let failure = 'its first process ended'
  const ready = Promise.withResolvers<void>()
  const control = child.stdio[3] as Duplex
  control.on('error', () => undefined)
  child.stdin!.on('error', () => undefined)
  readLines(control, (line) => {
    const [word, ...rest] = line.split(' ')
    if (word === 'pid') pid = Number(rest[0])
    if (word === 'fail') failure = explain(rest)
    if (word === 'ready') ready.resolve()
  })
  control.once('close', () => ready.reject(new Error(`cannot make a jail: ${failure}`)))
  child.once('error', ready.reject)
  child.stderr!.resume()
  child.stdin!.write(plan.encode())
  await ready.promise
  // A jail keeps no process alive: it ends with its creator.
  child.unref()
  for (const stream of [child.stdin, child.stderr]) (stream as unknown as Socket).unref()
  return { pid, helperProcess: child }
}

function explain([step = '', errno = '', ...what]: readonly string[]): string {
  const said = `${step} ${what.join(' ')} failed with errno ${errno}`
  if (!isRoot())
    return `${said}. Ordinary users need user namespaces, which this kernel may not allow them (sysctl user.max_user_namespaces); run it as root.`
  return step === 'shift' && errno === '22'
    ? `${said}. The file system there cannot shift owners: keep jails and their base on ext4, xfs, btrfs or tmpfs.`
    : `${said}. It needs Linux 5.19 with user namespaces and overlayfs, and root's capabilities.`
}

interface Parts extends First {
  readonly id: string
  readonly helper: string
  readonly directory: string
  readonly disk: Disk
  readonly cgroups: Cgroups
}

class NamespaceJail implements Jail {
  readonly id: string
  readonly pid: number
  readonly root: string
  readonly ended: Promise<void>
  readonly fuseMounter: readonly string[]
  readonly #parts: Parts
  #relay: Relay | undefined
  #exit: Exit | undefined
  #killing: Promise<void> | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    this.id = parts.id
    this.pid = parts.pid
    this.root = `/proc/${parts.pid}/root`
    this.fuseMounter = [parts.helper, 'fuse', `${parts.pid}`]
    this.ended = once(parts.helperProcess, 'exit').then(() => undefined)
  }

  async start(command: JailCommand): Promise<JailProcess> {
    const { helper, pid, cgroups, helperProcess } = this.#parts
    if (this.#killing !== undefined || helperProcess.exitCode !== null)
      throw new JailStartError('jail', `cannot start ${command.args[0]}: the jail has ended`)
    return startInside({ helper, pid, doors: cgroups.doors }, command)
  }

  async freeze(): Promise<void> {
    const { cgroups } = this.#parts
    if (cgroups.canFreeze) await cgroups.freeze(true)
    else stopAll(this.pid)
  }

  async thaw(): Promise<void> {
    const { cgroups } = this.#parts
    if (cgroups.canFreeze) await cgroups.freeze(false)
    else continueAll(this.pid)
  }

  async snapshot(directory: string): Promise<void> {
    await this.freeze()
    try {
      await copyDisk(this.#parts.disk, directory)
    } finally {
      await this.thaw()
    }
  }

  async usage(): Promise<JailUsage> {
    const { cgroups, disk } = this.#parts
    const { usedBytes, cacheBytes } = cgroups.memory
    return {
      cpuMicroseconds: cgroups.cpuMicroseconds,
      memoryBytes: usedBytes,
      cacheBytes,
      diskBytes: await measureDisk(disk),
      processes: cgroups.processes,
    }
  }

  connect(port: number): Promise<Socket> {
    return this.#openRelay().connect(port)
  }

  /** Once: gives it a network that ends there. */
  async openExit(exit: Exit): Promise<void> {
    this.#exit = exit
    await openExit(this.#openRelay(), this.pid, exit)
  }

  async setEgress(rules: EgressRules): Promise<void> {
    if (this.#exit === undefined)
      throw new Error("cannot set egress rules: the jail was made without network: 'egress'")
    this.#exit.rules = rules
  }

  #openRelay(): Relay {
    this.#relay ??= new Relay(this.#parts.helper, this.pid)
    return this.#relay
  }

  kill(): Promise<void> {
    this.#killing ??= this.#kill()
    return this.#killing
  }

  async #kill(): Promise<void> {
    const { cgroups, helperProcess, directory } = this.#parts
    helperProcess.ref()
    const list = (): readonly number[] => processesOf(this.pid, cgroups.pids)
    // While there is a network: what a mount holds goes through it.
    await drainMounts({ list, thaw: () => this.thaw() }, drainMs)
    this.#relay?.close()
    await cgroups.kill()
    // Where there are no cgroups to kill, process 1 ends with its lifeline and everything with it. Not by its number: that
    // may be another's by now.
    helperProcess.stdin!.destroy()
    await this.ended
    await cgroups.remove()
    await removeDisk(directory)
  }
}
