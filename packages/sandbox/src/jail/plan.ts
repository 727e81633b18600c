import { randomUUID } from 'node:crypto'
import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Disk, nameOf } from './disk.ts'
import type { JailBind } from './jail.ts'
import type { JailUsers } from './users.ts'

const flag = { noSuid: 2, noDev: 4, noExec: 8 } as const
const noPrograms = flag.noSuid | flag.noDev | flag.noExec

const devices: readonly (readonly [name: string, major: number, minor: number])[] = [
  ['null', 1, 3],
  ['zero', 1, 5],
  ['full', 1, 7],
  ['random', 1, 8],
  ['urandom', 1, 9],
  ['tty', 5, 0],
  // A node of its own: chmod on the host's would change it for the host.
  ['fuse', 10, 229],
]
const deviceLinks: readonly (readonly [name: string, target: string])[] = [
  ['ptmx', 'pts/ptmx'],
  ['fd', '/proc/self/fd'],
  ['stdin', '/proc/self/fd/0'],
  ['stdout', '/proc/self/fd/1'],
  ['stderr', '/proc/self/fd/2'],
]
const ttyGroup = 5

export interface PlanOptions {
  /** The directory of this jail alone: `stage` is in it. */
  readonly directory: string
  readonly disk: Disk
  readonly users: JailUsers
  readonly hostname: string
  readonly binds: readonly JailBind[]
  /** The cgroups that everything in the jail belongs to. */
  readonly doors: readonly string[]
  /** What is in memory counts: files there may take a part of it. */
  readonly memoryBytes: number | undefined
}

type Held = number

/**
 * What native/init.c does, in this order: fields that end in NUL. Everything of the host is taken hold of before the
 * pivot and attached after it, when a path can only mean a place in the jail.
 */
export class Plan {
  readonly #fields: string[] = []
  readonly #stage: string
  readonly #options: PlanOptions
  #held: Held = 0

  constructor(options: PlanOptions) {
    this.#options = options
    this.#stage = join(options.directory, 'stage')
  }

  encode(): string {
    const { binds, disk, doors, hostname, users } = this.#options
    this.#fields.push(`${users.base}`, `${users.count}`)
    for (const door of doors) this.#op('join', door)
    this.#mount('stage', this.#stage, 'tmpfs', noPrograms, 'mode=0700')
    // Paths of layers can be seen inside, in /proc/mounts: from here they say nothing about the host.
    this.#op('cd', this.#stage)
    const places = this.#stageDisk()
    const pieces = places.map((place) => this.#hold(place, 'plain'))
    const proc = this.#stageProc()
    // In memory, because /proc/self/mountinfo tells where on its file system a file is that was bound.
    this.#op('file', 'boot_id', `${randomUUID()}\n`)
    const bootId = this.#hold('boot_id', 'read')
    const processors = this.#hold('/sys/devices/system/cpu', 'read')
    const nodes = this.#isAlone ? this.#holdDevices() : undefined
    const sources = binds.map(({ source, writable }) =>
      this.#hold(source, writable === true ? 'shift' : 'read'),
    )
    this.#op('pivot', places[0]!)
    for (const [at, piece] of disk.pieces.entries())
      if (at > 0) this.#op('attach', pieces[at]!, piece.target)
    this.#makeDevices(nodes)
    this.#showKernel({ proc, bootId, processors })
    for (const [at, bind] of binds.entries()) this.#bind(bind, sources[at]!)
    this.#op('leave', hostname)
    this.#op('end')
    return this.#fields.map((field) => `${field}\0`).join('')
  }

  #op(name: string, ...args: readonly (string | number)[]): void {
    this.#fields.push(name, ...args.map(String))
  }

  #mount(source: string, target: string, type: string, flags: number, data = ''): void {
    this.#op('mount', source, target, type, flags, data)
  }

  #hold(source: string, how: 'plain' | 'shift' | 'read'): Held {
    this.#op('hold', this.#held, source, how)
    return this.#held++
  }

  /** Layers appear on a stage first, shifted to the jail's users; it goes away with the old root. Gives the overlays. */
  #stageDisk(): string[] {
    const { disk } = this.#options
    const written = this.#stageShifted(disk.directory, 'written')
    return disk.pieces.map((piece, at) => {
      const lowers = piece.lowers.map((lower, below) => this.#stageShifted(lower, `${at}-${below}`))
      const own = join(written, nameOf(piece))
      const place = `${at}`
      this.#op('mkdir', place)
      const layers = `lowerdir=${lowers.join(':')},upperdir=${own}/upper,workdir=${own}/work`
      const data = `${layers},volatile${this.#isAlone ? ',userxattr' : ''}`
      this.#mount('cairn', place, 'overlay', flag.noDev, data)
      return place
    })
  }

  /** While the host's is still to be seen: who is not root may mount it only where it was. */
  #stageProc(): Held {
    this.#op('mkdir', 'proc')
    this.#mount('proc', 'proc', 'proc', noPrograms)
    return this.#hold('proc', 'plain')
  }

  #stageShifted(source: string, name: string): string {
    this.#op('mkdir', name)
    this.#op('attach', this.#hold(source, 'shift'), name)
    return name
  }

  get #isAlone(): boolean {
    return this.#options.users.base === 0
  }

  /** Only root can make devices; the host's own are lent. Who may not open /dev/fuse has no use for it. */
  #holdDevices(): ReadonlyMap<string, Held> {
    const present = devices.filter(([name]) => canOpen(`/dev/${name}`))
    return new Map(present.map(([name]) => [name, this.#hold(`/dev/${name}`, 'plain')]))
  }

  #makeDevices(lent: ReadonlyMap<string, Held> | undefined): void {
    const { base } = this.#options.users
    const owner = `uid=${base},gid=${base}`
    const { memoryBytes } = this.#options
    const room = memoryBytes === undefined ? '' : `,size=${Math.floor(memoryBytes / 4)}`
    const { noSuid, noDev, noExec } = flag
    this.#mount('dev', '/dev', 'tmpfs', noSuid, `mode=0755,size=1m,${owner}`)
    for (const [name, held] of lent ?? []) {
      this.#op('touch', `/dev/${name}`)
      this.#op('attach', held, `/dev/${name}`)
    }
    for (const [name, major, minor] of lent ? [] : devices)
      this.#op('node', `/dev/${name}`, 0o666, major, minor)
    for (const [name, target] of deviceLinks) this.#op('link', target, `/dev/${name}`)
    for (const name of ['pts', 'shm']) this.#op('mkdir', `/dev/${name}`)
    const group = this.#isAlone ? '' : `,gid=${base + ttyGroup}`
    const terminals = `newinstance,ptmxmode=0666,mode=0620${group}`
    this.#mount('devpts', '/dev/pts', 'devpts', noSuid | noExec, terminals)
    this.#mount('shm', '/dev/shm', 'tmpfs', noSuid | noDev, `mode=1777,${owner}${room}`)
    this.#mount('run', '/run', 'tmpfs', noSuid | noDev, `mode=0755,${owner}${room}`)
  }

  /** Shows only the number of processors in /sys: the rest is about the host's hardware. */
  #showKernel({ proc, bootId, processors }: Readonly<Record<string, Held>>): void {
    this.#op('attach', proc!, '/proc')
    this.#op('attach', bootId!, '/proc/sys/kernel/random/boot_id')
    this.#mount('sys', '/sys', 'tmpfs', noPrograms, 'mode=0755,size=64k')
    for (const name of ['devices', 'devices/system', 'devices/system/cpu'])
      this.#op('mkdir', `/sys/${name}`)
    this.#op('attach', processors!, '/sys/devices/system/cpu')
  }

  #bind({ source, target }: JailBind, held: Held): void {
    const parts = target.split('/').filter((part) => part !== '')
    for (let length = 1; length < parts.length; length++)
      this.#op('mkdir', `/${parts.slice(0, length).join('/')}`)
    this.#op(statSync(source).isDirectory() ? 'mkdir' : 'touch', target)
    this.#op('attach', held, target)
  }
}

function canOpen(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    return true
  } catch {
    return path === '/dev/tty'
  }
}
