import type { Sandbox as E2BInstance, SandboxOpts } from 'e2b'
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
import { referenceOf, type WorkspaceReference } from '../workspace/reference.ts'
import { E2BFS } from './e2b-files.ts'
import { FileWatch } from './file-watch.ts'
import { whyOutOfReach } from './reach.ts'
import { isGone, toResult, withRetries } from './results.ts'
import { InnerMount } from './inner-mount.ts'
import { startProcess } from './start-process.ts'

export interface E2BSandboxOptions {
  /** Default: E2B_API_KEY. */
  readonly apiKey?: string
  /** A template, by id or alias. Default: `base`. */
  readonly template?: string
  /** How long the machine lives, unless more is asked for. Default: 300,000. */
  readonly timeoutMs?: number
  /** Default: where the workspace is mounted, else /home/user. */
  readonly workDir?: string
  readonly envs?: Readonly<Record<string, string>>
  readonly metadata?: Readonly<Record<string, string>>
  /** Default: true. */
  readonly allowInternetAccess?: boolean
  /** What it may reach, by the rules of E2B. */
  readonly network?: NonNullable<SandboxOpts['network']>
  /** What becomes of it when its time is over. Default: `kill`. */
  readonly onTimeout?: 'kill' | 'pause'
  /** Default: 120,000. */
  readonly execTimeoutMs?: number
  /** Use this machine instead of making one; it is resumed if it is paused. */
  readonly sandboxId?: string
  /** Default: E2B_DOMAIN, else `e2b.app`. */
  readonly domain?: string
  /** Another server that speaks E2B. Default: E2B_API_URL and E2B_SANDBOX_URL. */
  readonly apiUrl?: string
  readonly sandboxUrl?: string
  readonly workspace?: SandboxWorkspace
  /** Where the machine reaches the workspace's server. Default: where this program does. */
  readonly serverInside?: string
  /**
   * The machine belongs to another process: `dispose` leaves it running. Set in the stored form of
   * a sandbox.
   */
  readonly attached?: boolean
  /** How long to wait for the workspace's server before a pause or the end. Default: a minute. */
  readonly drainTimeoutMs?: number
}

const defaults = {
  template: 'base',
  timeoutMs: 300_000,
  workDir: '/home/user',
  execTimeoutMs: 120_000,
  drainTimeoutMs: 60_000,
} as const

/**
 * A sandbox at E2B, or on any server that speaks E2B. The machine is made, and its workspace mounted, by the first
 * command. What can be enumerated is enough to find it again and holds no secret: programs store such objects.
 *
 * @example
 * ```ts
 * const sandbox = new E2BSandbox({ template: 'cairn', workspace: { name: 'website', server, token } })
 * await sandbox.exec('npm test')
 * await sandbox.dispose()
 * ```
 */
export class E2BSandbox implements Sandbox {
  readonly kind = 'e2b'
  readonly workDir: string
  readonly template: string
  /** Undefined until there is one. */
  sandboxId: string | undefined
  readonly workspace?: WorkspaceReference
  /** For a sandbox that is created from the stored form of this one. */
  readonly attached = true
  readonly #options: E2BSandboxOptions
  readonly #fs: E2BFS
  readonly #watches = new Map<string, FileWatch>()
  #e2b: E2BInstance | null = null
  #mount: InnerMount | undefined
  #making: Promise<E2BInstance> | undefined
  #state: SandboxStatus['state'] = 'new'

  constructor(options: E2BSandboxOptions = {}) {
    this.#options = options
    if (options.workspace) this.workspace = referenceOf(options.workspace)
    this.workDir = options.workDir ?? this.workspace?.mountPath ?? defaults.workDir
    this.template = options.template ?? defaults.template
    this.sandboxId = options.sandboxId
    const { workDir } = this
    this.#fs = new E2BFS({ workDir, getE2BInstance: () => this.#withFiles() })
  }

  /** The SDK's own object; setting one makes this sandbox use it. */
  get e2b(): E2BInstance | null {
    return this.#e2b
  }

  set e2b(instance: E2BInstance | null) {
    this.#e2b = instance
    if (instance !== null) this.#state = 'running'
  }

  get fs(): SandboxFs {
    return this.#fs
  }

  async init(): Promise<void> {
    if (this.#state === 'ended') this.#state = 'new'
    await this.#machine()
  }

  async exec(command: string, options: ExecOptions = {}): Promise<ExecResult> {
    const e2b = await this.#machine()
    const timeoutMs = options.timeoutMs || this.#options.execTimeoutMs || defaults.execTimeoutMs
    const run = (): Promise<ExecResult> =>
      withRetries(() =>
        toResult(
          e2b.commands.run(this.#mount?.guard(command) ?? command, {
            cwd: this.workDir,
            envs: { ...environmentOf(options) },
            timeoutMs,
            // The SDK gives up on its own clock; the request itself has none.
            requestTimeoutMs: 0,
          }),
        ),
      )
    const result = await run()
    if (this.#mount === undefined || !this.#mount.wasRefused(result)) return result
    // A machine that was booted anew has an empty directory where the workspace was: nothing has run there.
    await this.#mount.mount(e2b)
    return run()
  }

  async start(command: string, options: LaunchOptions = {}): Promise<SandboxProcess> {
    const { cwd, env, stdin = false } = options
    const e2b = await this.#withFiles()
    return startProcess(e2b, this.#mount?.guard(command) ?? command, {
      cwd: this.#fs.resolve(cwd ?? '.'),
      envs: { ...environmentOf(options), ...env },
      stdin,
    })
  }

  async flush(): Promise<void> {
    await this.#mount?.drain(await this.#machine(), this.#drainTimeoutMs)
  }

  async watchFiles(
    paths: readonly string[],
    listener: (change: FileChange) => void,
  ): Promise<string> {
    const whole = paths.map((path) => this.#fs.resolve(path))
    const watch = await FileWatch.start(await this.#withFiles(), whole, listener)
    const id = `e2b-watch-${Date.now()}-${Math.random().toString(36).slice(2, 8)}`
    this.#watches.set(id, watch)
    return id
  }

  unwatchFiles(id: string): void {
    this.#watches.get(id)?.stop()
    this.#watches.delete(id)
  }

  /** The SDK's own object. Throws before `init`. */
  getE2BInstance(): E2BInstance {
    if (this.#e2b === null) throw new Error('E2BSandbox is not initialized. Call init() first.')
    return this.#e2b
  }

  /** Throws before `init`. */
  getSandboxId(): string {
    return this.getE2BInstance().sandboxId
  }

  /** Where a port of the sandbox is reached. Throws before `init`. */
  getHostUrl(port: number): string {
    const host = this.getE2BInstance().getHost(port)
    return `${/\.localhost(?::\d+)?$/.test(host) ? 'http' : 'https'}://${host}`
  }

  /** From now on. */
  async setTimeout(timeoutMs: number): Promise<void> {
    await (await this.#machine()).setTimeout(timeoutMs)
  }

  /** False also where it cannot be known; creates nothing. */
  async isRunning(): Promise<boolean> {
    try {
      return (await this.#e2b?.isRunning()) ?? false
    } catch {
      return false
    }
  }

  async status(): Promise<SandboxStatus> {
    if (this.#state !== 'running' || this.#e2b === null) return { state: this.#state }
    const workspace = await this.#mount?.status(this.#e2b)
    return { state: this.#state, ...(workspace && { workspace }) }
  }

  async pause(): Promise<void> {
    const e2b = await this.#machine()
    await this.#mount?.drain(e2b, this.#drainTimeoutMs)
    await e2b.pause()
    this.#state = 'paused'
  }

  async resume(): Promise<void> {
    const e2b = this.getE2BInstance()
    await e2b.connect({ timeoutMs: this.#options.timeoutMs ?? defaults.timeoutMs })
    this.#state = 'running'
    await this.#mount?.ensure(e2b)
  }

  async fork(count: number): Promise<E2BSandbox[]> {
    const { workspace, sandboxId: _, attached: __, ...options } = this.#options
    if (workspace === undefined)
      throw new Error('cannot fork a sandbox without a workspace: nothing else of it is kept')
    await this.#mount?.drain(await this.#machine(), this.#drainTimeoutMs)
    const layers = await makeForkLayers(workspace, findCredential(workspace), count)
    return layers.map((layer) => new E2BSandbox({ ...options, workspace: { ...workspace, layer } }))
  }

  async dispose({ drain = true }: DisposeOptions = {}): Promise<void> {
    for (const id of this.#watches.keys()) this.unwatchFiles(id)
    await this.#making?.catch(() => undefined)
    const e2b = this.#e2b
    if (e2b === null) return
    if (this.#state === 'paused' && this.#mount !== undefined) await this.resume()
    if (drain) await this.#mount?.drain(e2b, this.#drainTimeoutMs)
    if (this.#options.attached === true) this.#mount?.release()
    else {
      await e2b.kill()
      await this.#mount?.end()
    }
    this.#forget()
  }

  /** Leaves the machine to other processes, and this object without one. */
  async detach(): Promise<void> {
    for (const id of this.#watches.keys()) this.unwatchFiles(id)
    await this.#making?.catch(() => undefined)
    this.#mount?.release()
    this.#forget()
  }

  /** What can be shown and stored. */
  toJSON(): Readonly<Record<string, unknown>> {
    const { kind, workDir, sandboxId, template, workspace } = this
    return {
      kind,
      workDir,
      sandboxId: sandboxId ?? null,
      template,
      ...(workspace && { workspace }),
    }
  }

  get #drainTimeoutMs(): number {
    return this.#options.drainTimeoutMs ?? defaults.drainTimeoutMs
  }

  #forget(): void {
    this.#e2b = null
    this.#mount = undefined
    this.#making = undefined
    this.#state = 'ended'
    this.sandboxId = undefined
  }

  /** The machine, with its workspace in place: E2B writes files as root, also into a directory that is empty by mistake. */
  async #withFiles(): Promise<E2BInstance> {
    const e2b = await this.#machine()
    if (this.#mount !== undefined && !(await this.#mount.isVisible(e2b)))
      await this.#mount.mount(e2b)
    return e2b
  }

  /** The running machine, created if there is none; concurrent callers wait for the same one. */
  async #machine(): Promise<E2BInstance> {
    if (this.#state === 'ended')
      throw new Error('cannot use a sandbox that was disposed of. Call init() to make a new one.')
    if (this.#state === 'paused')
      throw new Error('cannot use a sandbox that is paused. Call resume() first.')
    if (this.#e2b !== null && this.#making === undefined) return this.#e2b
    if (this.#making === undefined) {
      const making = this.#make()
      this.#making = making
      // The next call tries again.
      making.catch(() => (this.#making = undefined))
    }
    return this.#making
  }

  async #make(): Promise<E2BInstance> {
    const { sandboxId } = this.#options
    // Before anything is paid for: without a key for the workspace nothing could run.
    const mount = this.#newMount()
    const e2b = await this.#open()
    try {
      await mount?.ensure(e2b)
    } catch (error) {
      if (sandboxId === undefined) await e2b.kill().catch(() => undefined)
      await mount?.end()
      throw error
    }
    this.#e2b = e2b
    this.#mount = mount
    this.#state = 'running'
    this.sandboxId = e2b.sandboxId
    return e2b
  }

  #newMount(): InnerMount | undefined {
    const { workspace, serverInside } = this.#options
    if (workspace === undefined) return undefined
    const owner = findCredential(workspace)
    const why = serverInside === undefined ? whyOutOfReach(owner.server, this.#options) : undefined
    if (why !== undefined)
      throw new Error(
        `cannot use workspace ${workspace.name} in a sandbox: ${why}. No sandbox was made.`,
      )
    return new InnerMount(this.workspace!, owner, serverInside)
  }

  async #open(): Promise<E2BInstance> {
    // Loaded when it is needed: those who use other sandboxes need not wait for it.
    const { Sandbox: E2B } = await import('e2b')
    const { sandboxId, envs, metadata, workspace, attached } = this.#options
    const { allowInternetAccess, network, onTimeout } = this.#options
    const timeoutMs = this.#options.timeoutMs ?? defaults.timeoutMs
    const connection = this.#connection()
    if (sandboxId !== undefined) {
      try {
        return await E2B.connect(sandboxId, { ...connection, timeoutMs })
      } catch (error) {
        // What was stored names a machine that is gone. Its files are in the workspace, so another one will do.
        if (attached !== true || workspace === undefined || !isGone(error)) throw error
      }
    }
    const options: SandboxOpts = {
      ...connection,
      timeoutMs,
      ...(envs && { envs: { ...envs } }),
      ...(metadata && { metadata: { ...metadata } }),
      ...(allowInternetAccess === undefined ? {} : { allowInternetAccess }),
      ...(network && { network }),
      ...(onTimeout && { lifecycle: { onTimeout } }),
    }
    return withRetries(() => E2B.create(this.template, options))
  }

  #connection(): Pick<SandboxOpts, 'apiKey' | 'domain' | 'apiUrl' | 'sandboxUrl'> {
    const { apiKey, domain, apiUrl, sandboxUrl } = this.#options
    return {
      ...(apiKey && { apiKey }),
      ...(domain && { domain }),
      ...(apiUrl && { apiUrl }),
      ...(sandboxUrl && { sandboxUrl }),
    }
  }
}
