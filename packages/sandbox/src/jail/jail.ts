import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'

/**
 * A machine of its own made of namespaces: file system, processes, network, users. Its root has no
 * rights on the host, so `sudo`, `mount` and `chown` work inside and reach nothing outside.
 * `create-jail.ts` makes one.
 *
 * It lives as long as the process that made it, at most: when that dies, by -9 too, the kernel ends everything inside.
 */
export interface Jail {
  readonly id: string
  /** Process 1 of the jail, as the host numbers it. */
  readonly pid: number
  /**
   * The jail's file system seen from the host, for looking only: symlinks in it lead host programs
   * to HOST files, and files that host programs write there have no owner inside. To read and write
   * safely, start a program inside.
   */
  readonly root: string
  /** Resolves when nothing runs inside any more, whatever ended it. Never rejects. */
  readonly ended: Promise<void>
  /**
   * Resolves once the program runs. Rejects with a `JailStartError` that names the step: `user`, `cwd`, `jail` (it is
   * gone). A program that does not exist is not an error but exit code 127, as in a shell.
   */
  start(command: JailCommand): Promise<JailProcess>
  /** Stops every process where it is, until `thaw`. Commands started meanwhile wait too. Twice is fine. */
  freeze(): Promise<void>
  thaw(): Promise<void>
  /**
   * Copies the jail's disk (not /run, /dev/shm, mounts) into a directory that must not exist yet and can then be a
   * `base: { snapshot }` for any number of jails. It is frozen meanwhile, so that the copy is of one moment.
   */
  snapshot(directory: string): Promise<void>
  usage(): Promise<JailUsage>
  /**
   * A connection to 127.0.0.1:port inside. Rejects with ECONNREFUSED when nothing listens there.
   */
  connect(port: number): Promise<Socket>
  /** Replaces the rules, for new connections. Only for a jail made with `network: 'egress'`. */
  setEgress(rules: EgressRules): Promise<void>
  /**
   * A command with the manners of fusermount3 (`-o OPTIONS -- DIR`, descriptor sent over `_FUSE_COMMFD`) that mounts
   * inside the jail: the daemon that serves the mount and its credentials stay on the host.
   */
  readonly fuseMounter: readonly string[]
  /**
   * Ends everything inside and removes its disk, cgroups and sockets. Programs end at once; what serves a FUSE mount
   * inside has 5 s to hand in what it holds. Twice is fine.
   */
  kill(): Promise<void>
}

export interface JailOptions {
  /** Where the jails' disks are kept; each takes a directory named by its id. On a disk, not on a tmpfs. */
  readonly directory: string
  /** Lower-case letters and digits. Default: random. */
  readonly id?: string
  /**
   * `host`: the host's system directories (/usr, /etc and so on, not its data), or a directory that holds a root file
   * system, or a snapshot. Never written to. Default: `host`.
   */
  readonly base?: JailBase
  /** Default: the id. */
  readonly hostname?: string
  /** Default: `loopback`. */
  readonly network?: 'loopback' | 'egress'
  /** With `egress`; default: everything is allowed. */
  readonly egress?: EgressRules
  /** With `egress`: how what may leave goes on. Default: from this machine, as any program here would. */
  readonly outside?: JailOutside
  readonly limits?: JailLimits
  readonly binds?: readonly JailBind[]
}

export type JailBase = 'host' | { readonly rootfs: string } | { readonly snapshot: string }

/** A file or directory of the host inside the jail. Read-only unless said otherwise. */
export interface JailBind {
  readonly source: string
  readonly target: string
  readonly writable?: boolean
}

/** What is left out is not limited. */
export interface JailLimits {
  readonly memoryBytes?: number
  /** 1.5 is one and a half processors' time. */
  readonly cpus?: number
  readonly processes?: number
  /**
   * The limit of the jail's own disk; beyond it programs get ENOSPC. Needs root, loop devices and
   * mkfs.ext4.
   */
  readonly diskBytes?: number
}

/** The network behind the rules. */
export interface JailOutside {
  connect(address: string, port: number): Promise<Socket>
  /** IPv4 addresses of a name. Rejects with ENOTFOUND when there is none. */
  resolve(name: string): Promise<string[]>
}

/**
 * Allow beats deny; what neither names is allowed, but for private networks and this machine itself, which an allow rule
 * has to name. A deny rule is an address or a CIDR; an allow rule may also be a
 * domain (`example.com`, `*.example.com`), which is found in the HTTP Host header or the TLS server name.
 */
export interface EgressRules {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
}

export interface JailUsage {
  readonly cpuMicroseconds: number
  /** Without what the kernel could drop at once. */
  readonly memoryBytes: number
  readonly cacheBytes: number
  /** What was written to the jail's own disk. */
  readonly diskBytes: number
  readonly processes: number
}

export interface JailCommand {
  /** Program and arguments, by PATH of `env`. */
  readonly args: readonly string[]
  /** All of it: nothing is inherited from the host. HOME, USER, LOGNAME, SHELL and PATH are added where missing. */
  readonly env?: Readonly<Record<string, string>>
  /** Default: the user's home. */
  readonly cwd?: string
  /** A name in the jail's /etc/passwd. Default: `user` (1000, may `sudo`). */
  readonly user?: string
  /** Default: `none`, which is /dev/null. */
  readonly stdin?: 'pipe' | 'none'
  /** With a terminal of its own, `stdin` writes to it, `stdout` is what it shows and `stderr` stays empty. */
  readonly pty?: { readonly columns: number; readonly rows: number }
}

export interface JailProcess {
  /** As the jail numbers it. */
  readonly pid: number
  /** With `stdin: 'pipe'` or a terminal. */
  readonly stdin?: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** When the program itself has ended; its children may still hold the streams open. Never rejects. */
  readonly exit: Promise<JailExit>
  /** To the program alone, by name: `SIGTERM`. After its end nothing happens. */
  signal(name: NodeJS.Signals): void
  /** Only with a terminal. */
  resize(columns: number, rows: number): void
}

export interface JailExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A program that could not be started, and at which step. */
export class JailStartError extends Error {
  override readonly name = 'JailStartError'
  readonly step: 'user' | 'cwd' | 'jail'

  constructor(step: 'user' | 'cwd' | 'jail', message: string) {
    super(message)
    this.step = step
  }
}
