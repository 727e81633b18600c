import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { readFile, rmdir, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JailLimits } from './jail.ts'

type Controller = 'memory' | 'cpu' | 'pids' | 'cpuacct'

/** One mounted hierarchy. Version 2 is one for all; of version 1 there is one for each controller or so. */
interface Hierarchy {
  readonly version: 1 | 2
  readonly controllers: readonly string[]
  /** This process's own place in it: jails are put below, and so inside of whatever limits this process has. */
  readonly own: string
  readonly top: string
}

const period = 100_000
const freezeMs = 5000

/** The groups that a jail's processes are counted, limited, frozen and killed in. */
export class Cgroups {
  readonly #directories: ReadonlyMap<Hierarchy, string>

  private constructor(directories: ReadonlyMap<Hierarchy, string>) {
    this.#directories = directories
  }

  /** Throws for a limit that this machine cannot keep. Without any cgroup there is nothing to count or freeze with. */
  static create(id: string, limits: JailLimits): Cgroups {
    const directories = new Map<Hierarchy, string>()
    const cgroups = new Cgroups(directories)
    try {
      for (const hierarchy of findHierarchies()) {
        const directory = makeGroup(hierarchy, `cairn-${id}`)
        if (directory !== undefined) directories.set(hierarchy, directory)
      }
      cgroups.#limit(limits)
      return cgroups
    } catch (error) {
      for (const directory of directories.values()) rmdirSync(directory)
      throw error
    }
  }

  get directories(): readonly string[] {
    return [...this.#directories.values()]
  }

  /** Who writes 0 into each of these joins. */
  get doors(): readonly string[] {
    return this.directories.map((directory) => join(directory, 'cgroup.procs'))
  }

  get canFreeze(): boolean {
    return this.#find(2) !== undefined
  }

  async freeze(isFrozen: boolean): Promise<void> {
    const directory = this.#find(2)!
    await writeFile(join(directory, 'cgroup.freeze'), isFrozen ? '1' : '0')
    const wanted = `frozen ${isFrozen ? 1 : 0}`
    const deadline = performance.now() + freezeMs
    // A process that waits in the kernel for a frozen one stops when it returns; others need not
    // wait for that.
    while (performance.now() < deadline) {
      if ((await readFile(join(directory, 'cgroup.events'), 'utf8')).includes(wanted)) return
      await sleep(1)
    }
  }

  /** At once, frozen or not. */
  async kill(): Promise<void> {
    const directory = this.#find(2)
    if (directory !== undefined) await writeFile(join(directory, 'cgroup.kill'), '1')
  }

  async remove(): Promise<void> {
    for (const directory of this.directories) await removeGroup(directory)
  }

  /** Undefined where there is no group to ask. */
  get pids(): readonly number[] | undefined {
    return this.#read(2, 'cgroup.procs')?.split('\n').filter(Boolean).map(Number)
  }

  get cpuMicroseconds(): number {
    const stat = this.#read(2, 'cpu.stat')
    return stat === undefined ? 0 : fieldOf(stat, 'usage_usec')
  }

  get processes(): number {
    const directory = this.#with('pids')
    return directory === undefined ? 0 : Number(readFileSync(join(directory, 'pids.current')))
  }

  get memory(): { readonly usedBytes: number; readonly cacheBytes: number } {
    const found = this.#entryWith('memory')
    if (found === undefined) return { usedBytes: 0, cacheBytes: 0 }
    const [{ version }, directory] = found
    const all = Number(
      readFileSync(join(directory, version === 2 ? 'memory.current' : 'memory.usage_in_bytes')),
    )
    const stat = readFileSync(join(directory, 'memory.stat'), 'utf8')
    const cacheBytes = fieldOf(stat, version === 2 ? 'file' : 'total_cache')
    const dropped = fieldOf(stat, version === 2 ? 'inactive_file' : 'total_inactive_file')
    return { usedBytes: Math.max(0, all - dropped), cacheBytes }
  }

  #limit({ memoryBytes, cpus, processes }: JailLimits): void {
    if (memoryBytes !== undefined)
      this.#set('memory', { 1: 'memory.limit_in_bytes', 2: 'memory.max' }, `${memoryBytes}`)
    if (processes !== undefined) this.#set('pids', { 1: 'pids.max', 2: 'pids.max' }, `${processes}`)
    if (cpus === undefined) return
    const quota = Math.round(cpus * period)
    const [{ version }] = this.#need('cpu')
    if (version === 1) this.#set('cpu', { 1: 'cpu.cfs_quota_us', 2: '' }, `${quota}`)
    else this.#set('cpu', { 1: '', 2: 'cpu.max' }, `${quota} ${period}`)
  }

  #set(
    controller: Controller,
    files: { readonly 1: string; readonly 2: string },
    value: string,
  ): void {
    const [{ version }, directory] = this.#need(controller)
    writeFileSync(join(directory, files[version]), value)
  }

  #need(controller: Controller): [Hierarchy, string] {
    const found = this.#entryWith(controller)
    if (found !== undefined) return found
    throw new Error(
      `cannot limit a jail's ${controller}: this process may make no ${controller} cgroup. ` +
        'Run as root on a machine with cgroups, or leave the limit out.',
    )
  }

  #entryWith(controller: Controller): [Hierarchy, string] | undefined {
    return [...this.#directories].find(([{ controllers }]) => controllers.includes(controller))
  }

  #with(controller: Controller): string | undefined {
    return this.#entryWith(controller)?.[1]
  }

  #find(version: 1 | 2): string | undefined {
    return [...this.#directories].find(([hierarchy]) => hierarchy.version === version)?.[1]
  }

  #read(version: 1 | 2, name: string): string | undefined {
    const directory = this.#find(version)
    return directory === undefined ? undefined : readFileSync(join(directory, name), 'utf8')
  }
}

/** What was killed leaves its group a moment later. */
export async function removeGroup(directory: string): Promise<void> {
  for (let tries = 0; existsSync(directory); tries++)
    await rmdir(directory).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return
      if (tries > 1000) throw error
      await sleep(2)
    })
}

function fieldOf(stat: string, name: string): number {
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(stat)?.[1] ?? 0)
}

const wanted: readonly string[] = ['memory', 'cpu', 'pids'] satisfies Controller[]

/** Those that matter to a jail: version 2, and of version 1 what has a controller that we set. */
function findHierarchies(): Hierarchy[] {
  const places = readFileSync('/proc/self/cgroup', 'utf8').trim().split('\n').map(parsePlace)
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => parseMount(line, places))
    .filter(
      ({ version, controllers }) =>
        version === 2 || wanted.some((one) => controllers.includes(one)),
    )
}

interface CgroupPlace {
  readonly controllers: readonly string[]
  readonly path: string
}

function parsePlace(line: string): CgroupPlace {
  const [, controllers = '', ...path] = line.split(':')
  return { controllers: controllers.split(',').filter((name) => name !== ''), path: path.join(':') }
}

/** `36 35 0:31 ROOT MOUNTPOINT OPTIONS - TYPE SOURCE OPTIONS` */
function parseMount(line: string, places: readonly CgroupPlace[]): Hierarchy[] {
  const [before = '', after = ''] = line.split(' - ')
  const [, , , root = '', top = ''] = before.split(' ')
  const [type, , options = ''] = after.split(' ')
  const words = options.split(',')
  const place = places.find(({ controllers }) =>
    type === 'cgroup2'
      ? controllers.length === 0
      : type === 'cgroup' &&
        controllers.length > 0 &&
        controllers.every((name) => words.includes(name)),
  )
  if (place === undefined) return []
  const own = join(top, relative(root, place.path))
  if (type === 'cgroup') return [{ version: 1, controllers: place.controllers, own, top }]
  const controllers = readFileSync(join(own, 'cgroup.controllers'), 'utf8').trim().split(' ')
  return [{ version: 2, controllers, own, top }]
}

/** Undefined where this process may not make one. */
function makeGroup(hierarchy: Hierarchy, name: string): string | undefined {
  try {
    const parent = hierarchy.version === 2 ? hand(hierarchy) : hierarchy.own
    mkdirSync(join(parent, name))
    return join(parent, name)
  } catch {
    return undefined
  }
}

/**
 * Version 2 gives controllers only to children of groups without processes of their own. Where ours has some, jails go
 * to the top.
 */
function hand({ own, top, controllers }: Hierarchy): string {
  const words = wanted.filter((name) => controllers.includes(name)).map((name) => `+${name}`)
  if (words.length === 0) return own
  for (const parent of [own, top])
    try {
      writeFileSync(join(parent, 'cgroup.subtree_control'), words.join(' '))
      return parent
    } catch {
      // EBUSY: it has processes. The next one may have none.
    }
  return own
}
