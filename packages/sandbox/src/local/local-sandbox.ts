import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { DaemonCommand } from '@cairn/mount'
import { createJail } from '../jail/create-jail.ts'
import type { EgressRules, Jail, JailBase, JailBind, JailLimits } from '../jail/jail.ts'
import { ordinaryUser } from '../jail/users.ts'
import type {
  DisposeOptions,
  ExecOptions,
  ExecResult,
  FileChange,
  Sandbox,
  SandboxFs,
  SandboxProcess,
  SandboxStatus,
  SandboxWorkspace,
  LaunchOptions,
} from '../sandbox.ts'
import { environmentOf } from '../workspace/call-environment.ts'
import { findCredential } from '../workspace/credential.ts'
import { makeForkLayers } from '../workspace/fork-layers.ts'
import { JailMount } from '../workspace/jail-mount.ts'
import { lend, type Loan } from '../workspace/loan.ts'
import { referenceOf, type WorkspaceReference } from '../workspace/reference.ts'
import { refuseDangerous } from './dangerous.ts'
import { FileWatch } from './file-watch.ts'
import { LocalFiles } from './local-files.ts'
import { jailsDirectory } from './places.ts'
import { startProcess } from './start-process.ts'
import { runInside } from '../workspace/run-inside.ts'

export interface LocalSandboxOptions {
  /**
   * In the sandbox; made if it is missing. A directory of this machine has to be lent by `binds`.
   * Default: where the workspace is mounted, else /home/user.
   */
  readonly workDir?: string
  /** The same as `workDir`. */
  readonly baseDir?: string
  readonly pwd?: string
  /** `fs` stays inside `workDir` and `allowPaths`. Default: true. */
  readonly enforceBoundary?: boolean
  readonly allowPaths?: readonly string[]
  /** Default: true. */
  readonly watchFiles?: boolean
  /** For every command. */
  readonly envs?: Readonly<Record<string, string>>
  readonly execTimeoutMs?: number
  readonly workspace?: SandboxWorkspace
  readonly base?: JailBase
  readonly limits?: JailLimits
  readonly binds?: readonly JailBind[]
  /** Default: false, nothing but the sandbox's own loopback. */
  readonly allowInternetAccess?: boolean
  /** Implies `allowInternetAccess`. */
  readonly egress?: EgressRules
  /** The host's directory for disks. Default: /var/lib/cairn/jails. */
  readonly directory?: string
  /** How long to wait for the server before a pause or the end. Default: a minute. */
  readonly drainTimeoutMs?: number
  /** For bundles, in which this package's own process is not to be found. */
  readonly mountDaemon?: DaemonCommand
}

const execTimeoutMs = 120_000
const drainTimeoutMs = 60_000
const outputBytesMax = 10 << 20
/** What a crash leaves behind is brought to the server in the background after this. */
const settleMs = 5000

interface Machine {
  readonly jail: Jail
  readonly mount: JailMount | undefined
  /** What the mount shows to the server. */
  readonly loan: Loan | undefined
}

/**
 * A sandbox on this machine: a jail of namespaces, without an account anywhere. It is made by the first command.
 *
 * @example
 * ```ts
 * const sandbox = new LocalSandbox({ workspace: { name: 'website', server, token } })
 * await sandbox.exec('git clone https://example.org/site.git .')
 * await sandbox.dispose()
 * ```
 */
export class LocalSandbox implements Sandbox {
  readonly kind = 'local'
  readonly workDir: string
  /** Where the files are that stay. Enough to make this sandbox again; the token is not in it. */
  readonly workspace?: WorkspaceReference
  readonly #options: LocalSandboxOptions
  readonly #fs: LocalFiles
  readonly #watches = new Map<string, FileWatch>()
  #making: Promise<Machine> | undefined
  #state: SandboxStatus['state'] = 'new'

  constructor(options: LocalSandboxOptions = {}) {
    this.#options = options
    if (options.workspace) this.workspace = referenceOf(options.workspace)
    const { workDir, baseDir, pwd } = options
    const place = workDir || baseDir || pwd || this.workspace?.mountPath || ordinaryUser.home
    this.workDir = posix.resolve(ordinaryUser.home, place)
    this.#fs = new LocalFiles({
      workDir: this.workDir,
      roots: (options.enforceBoundary ?? true) ? (options.allowPaths ?? []) : undefined,
      jail: async () => (await this.#machine()).jail,
    })
  }

  static local(options: Pick<LocalSandboxOptions, 'workDir' | 'baseDir' | 'pwd'>): LocalSandbox {
    return new LocalSandbox(options)
  }

  get fs(): SandboxFs {
    return this.#fs
  }

  async init(): Promise<void> {
    if (this.#state === 'ended') {
      this.#state = 'new'
      this.#making = undefined
    }
    await this.#machine()
  }

  async exec(command: string, options: ExecOptions = {}): Promise<ExecResult> {
    const refusal = refuseDangerous(command)
    if (refusal !== undefined) return { code: 1, stdout: '', stderr: refusal }
    const { jail } = await this.#machine()
    const timeoutMs = options.timeoutMs || this.#options.execTimeoutMs || execTimeoutMs
    const { code, stdout, stderr, stopped } = await runInside(
      jail,
      {
        args: ['/bin/bash', '-c', command],
        cwd: this.workDir,
        env: { LANG: 'C.UTF-8', ...this.#options.envs, ...environmentOf(options) },
      },
      { timeoutMs, bytesMax: outputBytesMax },
    )
    if (stopped === undefined) return { code, stdout, stderr }
    const why =
      stopped === 'timeout' ? `after ${timeoutMs} ms` : `after ${outputBytesMax} bytes of output`
    return { code: 1, stdout, stderr: `${stderr}command ended ${why}`, stopped }
  }

  async start(command: string, options: LaunchOptions = {}): Promise<SandboxProcess> {
    const { cwd, env, stdin = false } = options
    const refusal = refuseDangerous(command)
    if (refusal !== undefined) throw new Error(refusal)
    const { jail } = await this.#machine()
    return startProcess(jail, {
      args: ['/bin/bash', '-c', command],
      cwd: this.#fs.resolve(cwd ?? '.'),
      env: { LANG: 'C.UTF-8', ...this.#options.envs, ...environmentOf(options), ...env },
      stdin: stdin ? 'pipe' : 'none',
    })
  }

  async flush(): Promise<void> {
    await (await this.#machine()).mount?.drain(this.#drainTimeoutMs)
  }

  async watchFiles(
    paths: readonly string[],
    listener: (change: FileChange) => void,
  ): Promise<string> {
    if (this.#options.watchFiles === false) return `watch-disabled-${Date.now()}`
    const { jail } = await this.#machine()
    const whole = paths.map((path) => this.#fs.resolve(path))
    const watch = await FileWatch.start(jail, whole, listener)
    const id = `watch-${Date.now()}-${Math.random().toString(36).slice(2, 8)}`
    this.#watches.set(id, watch)
    return id
  }

  unwatchFiles(id: string): void {
    this.#watches.get(id)?.stop()
    this.#watches.delete(id)
  }

  /** Throws before `init`. */
  getSandboxId(): string {
    if (this.#id === undefined)
      throw new Error('LocalSandbox is not initialized. Call init() first.')
    return this.#id
  }

  async status(): Promise<SandboxStatus> {
    if (this.#state === 'new' || this.#state === 'ended') return { state: this.#state }
    const { mount } = await this.#making!
    return { state: this.#state, ...(mount && { workspace: await mount.status() }) }
  }

  async pause(): Promise<void> {
    const { jail, mount } = await this.#machine()
    await mount?.drain(this.#drainTimeoutMs)
    await jail.freeze()
    this.#state = 'paused'
  }

  async resume(): Promise<void> {
    const { jail } = await this.#made()
    await jail.thaw()
    this.#state = 'running'
  }

  async fork(count: number): Promise<LocalSandbox[]> {
    const { workspace } = this.#options
    if (workspace === undefined)
      throw new Error('cannot fork a sandbox without a workspace: nothing else of it is kept')
    const { mount } = await this.#machine()
    await mount!.drain(this.#drainTimeoutMs)
    const layers = await makeForkLayers(workspace, findCredential(workspace), count)
    return layers.map(
      (layer) => new LocalSandbox({ ...this.#options, workspace: { ...workspace, layer } }),
    )
  }

  async dispose({ drain = true }: DisposeOptions = {}): Promise<void> {
    for (const id of this.#watches.keys()) this.unwatchFiles(id)
    if (this.#making === undefined || this.#state === 'ended') return
    const machine = await this.#making.catch(() => undefined)
    if (machine === undefined) return
    if (this.#state === 'paused') await this.resume()
    if (drain) await machine.mount?.drain(this.#drainTimeoutMs)
    this.#state = 'ended'
    this.#id = undefined
    await end(machine, drain ? this.#drainTimeoutMs : settleMs)
  }

  /** What can be shown and stored. */
  toJSON(): Readonly<Record<string, unknown>> {
    const { kind, workDir, workspace } = this
    return { kind, workDir, sandboxId: this.#id ?? null, ...(workspace && { workspace }) }
  }

  #id: string | undefined

  get #drainTimeoutMs(): number {
    return this.#options.drainTimeoutMs ?? drainTimeoutMs
  }

  /** The running machine, created if there is none; concurrent callers wait for the same one. */
  async #machine(): Promise<Machine> {
    const machine = await this.#made()
    if (this.#state === 'paused')
      throw new Error('cannot use a sandbox that is paused. Call resume() first.')
    machine.mount?.assertMounted()
    return machine
  }

  async #made(): Promise<Machine> {
    if (this.#state === 'ended')
      throw new Error('cannot use a sandbox that has ended. Call init() to make a new one.')
    if (this.#making === undefined) {
      const making = this.#make()
      this.#making = making
      // The next call tries again.
      making.catch(() => (this.#making = undefined))
    }
    return this.#making
  }

  async #make(): Promise<Machine> {
    const { base, limits, binds, allowInternetAccess, egress } = this.#options
    const directory = this.#options.directory ?? jailsDirectory()
    const jail = await createJail({
      directory,
      network: egress || allowInternetAccess ? 'egress' : 'loopback',
      ...(base && { base }),
      ...(limits && { limits }),
      ...(binds && { binds }),
      ...(egress && { egress }),
    })
    let loan: Loan | undefined
    try {
      loan = await this.#lendWorkspace(jail)
      const mount = await this.#mountWorkspace(jail, directory, loan)
      await this.#makeWorkDir(jail)
      this.#id = jail.id
      this.#state = 'running'
      const machine = { jail, mount, loan }
      void jail.ended.then(() => this.#bury(machine))
      return machine
    } catch (error) {
      await jail.kill()
      await loan?.end()
      throw error
    }
  }

  /** A machine that ended without being told to: what is left of it goes too. */
  async #bury(machine: Machine): Promise<void> {
    if (this.#state === 'ended' || this.#id !== machine.jail.id) return
    this.#state = 'ended'
    await end(machine, settleMs)
  }

  async #lendWorkspace(jail: Jail): Promise<Loan | undefined> {
    const { workspace } = this.#options
    if (workspace === undefined) return undefined
    return lend(this.workspace!, findCredential(workspace), `local-${jail.id}`)
  }

  async #mountWorkspace(
    jail: Jail,
    directory: string,
    credential: Loan | undefined,
  ): Promise<JailMount | undefined> {
    const { workspace, mountDaemon: daemon } = this.#options
    if (workspace === undefined || credential === undefined) return undefined
    return JailMount.open({
      jail,
      workspace: this.workspace!,
      credential,
      heir: findCredential(workspace),
      mounts: join(directory, 'mounts'),
      daemon,
    })
  }

  async #makeWorkDir(jail: Jail): Promise<void> {
    if (this.workDir === this.workspace?.mountPath || this.workDir === ordinaryUser.home) return
    const isThere = await runInside(jail, { args: ['test', '-d', this.workDir], cwd: '/' })
    if (isThere.code === 0) return
    // Its files would be missing, and what is written would never reach it.
    if (existsSync(this.workDir))
      throw new Error(
        `cannot use ${this.workDir} as workDir: it is on this machine, and the sandbox does not see it. ` +
          `Lend it with binds: [{ source: '${this.workDir}', target: '${this.workDir}', writable: true }], ` +
          'or name a directory that is only in the sandbox.',
      )
    const owner = `${ordinaryUser.uid}:${ordinaryUser.gid}`
    const script = 'mkdir -p "$1" && chown "$2" "$1"'
    const args = ['/bin/sh', '-c', script, 'sh', this.workDir, owner]
    const { code, stderr } = await runInside(jail, { args, user: 'root', cwd: '/' })
    if (code !== 0) throw new Error(`cannot make ${this.workDir} in the sandbox: ${stderr.trim()}`)
  }
}

async function end({ jail, mount, loan }: Machine, timeoutMs: number): Promise<void> {
  await jail.kill()
  // What is still on its way needs it.
  if (await mount?.settle(timeoutMs)) await loan?.end()
  else loan?.release()
}
