import { type Jail, type JailCommand, type JailProcess, JailStartError } from '../../jail/jail.ts'
import { RpcError } from '../connect/rpc-error.ts'
import { roomIn } from '../room.ts'

export interface ProcessConfig {
  readonly cmd: string
  readonly args: readonly string[]
  readonly envs: Readonly<Record<string, string>>
  readonly cwd?: string
}

export interface ProcessEnd {
  readonly exitCode: number
  readonly exited: boolean
  readonly status: string
  readonly error?: string
}

export type ProcessEvent =
  | { readonly start: { readonly pid: number } }
  | {
      readonly data:
        | { readonly stdout: string }
        | { readonly stderr: string }
        | { readonly pty: string }
    }
  | { readonly end: ProcessEnd }

/** Resolves when it can take more. */
export type Subscriber = (event: ProcessEvent) => Promise<void>

interface StartOptions {
  readonly config: ProcessConfig
  readonly tag: string | undefined
  readonly command: JailCommand
  /** When it is killed; undefined without a limit. */
  readonly timeoutMs: number | undefined
}

const chunkBytes = 32 << 10
/** How long a late caller can still learn how a process ended. */
const rememberMs = 30_000

export class Processes {
  readonly #jail: Jail
  readonly #onProcess: (process: Process) => void
  readonly #all = new Map<number, Process>()

  constructor(jail: Jail, onProcess: (process: Process) => void = () => undefined) {
    this.#jail = jail
    this.#onProcess = onProcess
  }

  async start(options: StartOptions): Promise<Process> {
    const process = new Process(await this.#begin(options.command), options)
    this.#all.set(process.pid, process)
    this.#onProcess(process)
    void process.ended.then(() => {
      const forget = setTimeout(() => this.#all.delete(process.pid), rememberMs)
      forget.unref()
    })
    return process
  }

  async #begin(command: JailCommand): Promise<JailProcess> {
    try {
      return await this.#jail.start(command)
    } catch (error) {
      if (error instanceof JailStartError) throw new RpcError(codeOfStep[error.step], error.message)
      throw error
    }
  }

  list(): Process[] {
    return [...this.#all.values()].filter(({ isEnded }) => !isEnded)
  }

  /** By pid or tag; one that ended a moment ago only if asked for. */
  get(selector: unknown, { alsoEnded = false }: { alsoEnded?: boolean } = {}): Process {
    const { pid, tag } = (selector ?? {}) as { pid?: number; tag?: string }
    const found = [...this.#all.values()].find(
      (process) =>
        (alsoEnded || !process.isEnded) &&
        (tag === undefined ? process.pid === Number(pid) : process.tag === tag),
    )
    if (found !== undefined) return found
    throw new RpcError('not_found', `there is no process ${tag ?? `with pid ${pid}`}`)
  }
}

const codeOfStep = {
  user: 'unauthenticated',
  cwd: 'invalid_argument',
  jail: 'unavailable',
} as const

export class Process {
  readonly config: ProcessConfig
  readonly tag: string | undefined
  readonly hasPty: boolean
  readonly #child: JailProcess
  readonly #subscribers = new Set<Subscriber>()
  readonly #stopWaiting = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<ProcessEnd>()
  readonly #timeoutMs: number | undefined
  #end: ProcessEnd | undefined
  #isExpired = false

  constructor(process: JailProcess, { config, tag, command, timeoutMs }: StartOptions) {
    this.config = config
    this.tag = tag
    this.hasPty = command.pty !== undefined
    this.#child = process
    this.#timeoutMs = timeoutMs
    process.stdin?.on('error', () => {})
  }

  /**
   * Output flows from now on and is dropped without a follower, so the first follower joins before
   * this.
   */
  begin(): void {
    const limit = this.#timeoutMs
    const expire = (): void => {
      this.#isExpired = true
      this.signal('SIGKILL')
    }
    const timer = limit === undefined ? undefined : setTimeout(expire, limit)
    void this.#run().then((end) => {
      clearTimeout(timer)
      this.#end = end
      this.#ended.resolve(end)
    })
  }

  get ended(): Promise<ProcessEnd> {
    return this.#ended.promise
  }

  get pid(): number {
    return this.#child.pid
  }

  /** Whether it was killed because its time was over. */
  get isExpired(): boolean {
    return this.#isExpired
  }

  get isEnded(): boolean {
    return this.#end !== undefined
  }

  /** Everything from now on; of one that has ended, only the end. Resolves after the end, or when the signal comes. */
  async follow(subscriber: Subscriber, signal: AbortSignal): Promise<void> {
    void subscriber({ start: { pid: this.pid } })
    this.#subscribers.add(subscriber)
    const left = new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      signal.addEventListener('abort', () => resolve())
    })
    try {
      const end = await Promise.race([this.ended, left])
      if (end !== undefined) await subscriber({ end })
    } finally {
      this.#subscribers.delete(subscriber)
    }
  }

  async input(kind: 'stdin' | 'pty', bytes: Buffer): Promise<void> {
    if ((kind === 'pty') !== this.hasPty)
      throw new RpcError('internal', `the process has ${this.hasPty ? 'a pty' : 'no pty'}`)
    const { stdin } = this.#child
    if (stdin === undefined || stdin.writableEnded || stdin.destroyed)
      throw new RpcError('internal', 'the input of the process is closed')
    if (!stdin.write(bytes)) await Promise.race([roomIn(stdin), this.ended])
  }

  closeInput(): void {
    if (this.hasPty) throw new RpcError('unknown', 'a pty has no end of input; send it byte 4')
    this.#child.stdin?.end()
  }

  signal(name: 'SIGTERM' | 'SIGKILL'): void {
    this.#child.signal(name)
    this.#stopWaiting.resolve()
  }

  resize(columns: number, rows: number): void {
    if (!this.hasPty) throw new RpcError('invalid_argument', 'the process has no pty')
    this.#child.resize(columns, rows)
  }

  async #run(): Promise<ProcessEnd> {
    const { stdout, stderr } = this.#child
    const output = Promise.all([
      this.#pump(stdout, this.hasPty ? 'pty' : 'stdout'),
      this.hasPty ? undefined : this.#pump(stderr, 'stderr'),
    ])
    const { code, signal } = await this.#child.exit
    // A child in the background keeps the pipes open, and the caller waits for it, too, unless it was told to stop.
    await Promise.race([output, this.#stopWaiting.promise.then(() => settle(output))])
    return endOf(code, signal)
  }

  async #pump(source: AsyncIterable<Buffer>, kind: 'stdout' | 'stderr' | 'pty'): Promise<void> {
    try {
      for await (const bytes of source)
        for (let at = 0; at < bytes.length; at += chunkBytes) {
          const data = { [kind]: bytes.subarray(at, at + chunkBytes).toString('base64') }
          await this.#publish({ data } as ProcessEvent)
        }
    } catch {
      // The pipe went with the process; its end is told by `exit`.
    }
  }

  async #publish(event: ProcessEvent): Promise<void> {
    await Promise.all([...this.#subscribers].map((subscriber) => subscriber(event)))
  }
}

/** What the killed process itself wrote is in the pipe already: a moment is enough for it. */
function settle(output: Promise<unknown>): Promise<unknown> {
  return Promise.race([output, new Promise((resolve) => setTimeout(resolve, 50).unref())])
}

function endOf(code: number | null, signal: string | null): ProcessEnd {
  if (signal !== null) {
    const status = `signal: ${signalWords[signal] ?? signal.toLowerCase()}`
    return { exitCode: -1, exited: false, status, error: status }
  }
  const exitCode = code ?? -1
  const status = `exit status ${exitCode}`
  return { exitCode, exited: true, status, ...(exitCode === 0 ? {} : { error: status }) }
}

const signalWords: Readonly<Record<string, string>> = {
  SIGHUP: 'hangup',
  SIGINT: 'interrupt',
  SIGKILL: 'killed',
  SIGTERM: 'terminated',
  SIGSEGV: 'segmentation fault',
  SIGABRT: 'aborted',
  SIGPIPE: 'broken pipe',
}
