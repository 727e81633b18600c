import {
  type CommandResult,
  type ProcessInfo,
  ProcessHandle,
  SandboxProcessManager,
  type SpawnProcessOptions,
} from '@mastra/core/workspace'
import type { Sandbox, SandboxProcess } from '@cairn/sandbox'
import { currentToolCall } from '../tool-call.ts'

const timedOutCode = 124

/** Commands in a sandbox as Mastra follows them. */
export class CairnProcesses extends SandboxProcessManager {
  readonly #machine: Sandbox

  constructor(machine: Sandbox) {
    super()
    this.#machine = machine
  }

  override async spawn(command: string, options: SpawnProcessOptions = {}): Promise<ProcessHandle> {
    const { cwd, env = {}, stdinMode = 'pipe' } = options
    const given = Object.entries(env).filter(([, value]) => value !== undefined)
    const process = await this.#machine.start(command, {
      ...(cwd !== undefined && { cwd }),
      env: Object.fromEntries(given) as Record<string, string>,
      stdin: stdinMode === 'pipe',
      toolCall: currentToolCall(),
    })
    const handle = new CairnProcess(process, options)
    this._tracked.set(handle.pid, handle)
    return handle
  }

  override async list(): Promise<ProcessInfo[]> {
    return [...this._tracked.values()].map(({ pid, command, exitCode }) => ({
      pid,
      running: exitCode === undefined,
      ...(command !== undefined && { command }),
      ...(exitCode !== undefined && { exitCode }),
    }))
  }
}

class CairnProcess extends ProcessHandle {
  readonly pid: string
  exitCode: number | undefined
  readonly #process: SandboxProcess
  readonly #input: WritableStreamDefaultWriter<Uint8Array> | undefined
  readonly #ended: Promise<CommandResult>

  constructor(process: SandboxProcess, options: SpawnProcessOptions) {
    super(options)
    this.pid = String(process.pid)
    this.#process = process
    this.#input = process.stdin?.getWriter()
    // It closes with the command.
    this.#input?.closed.catch(() => undefined)
    this.#ended = this.#follow(options.timeout)
    // Told to those that wait.
    this.#ended.catch(() => undefined)
  }

  override wait(): Promise<CommandResult> {
    return this.#ended
  }

  async kill(): Promise<boolean> {
    if (this.exitCode !== undefined) return false
    await this.#process.kill()
    return true
  }

  async sendStdin(data: string): Promise<void> {
    await this.#writer().write(new TextEncoder().encode(data))
  }

  override async closeStdin(): Promise<void> {
    await this.#writer().close()
  }

  #writer(): WritableStreamDefaultWriter<Uint8Array> {
    if (this.#input === undefined || this.exitCode !== undefined)
      throw new Error(
        `cannot write to process ${this.pid}: it ${this.#input === undefined ? 'was started without an input' : 'has ended'}.`,
      )
    return this.#input
  }

  async #follow(timeoutMs: number | undefined): Promise<CommandResult> {
    const begin = performance.now()
    let timedOut = false
    const end = (): void => {
      timedOut = true
      void this.#process.kill().catch(() => undefined)
    }
    const timer = timeoutMs ? setTimeout(end, timeoutMs) : undefined
    try {
      const [code] = await Promise.all([
        this.#process.wait(),
        tell(this.#process.stdout, (text) => this.emitStdout(text)),
        tell(this.#process.stderr, (text) => this.emitStderr(text)),
      ])
      this.exitCode = timedOut ? timedOutCode : code
    } finally {
      clearTimeout(timer)
    }
    const { exitCode, stdout, stderr } = this
    const executionTimeMs = Math.round(performance.now() - begin)
    return { success: exitCode === 0, exitCode, stdout, stderr, executionTimeMs, timedOut }
  }
}

async function tell(
  stream: ReadableStream<Uint8Array>,
  emit: (text: string) => void,
): Promise<void> {
  for await (const text of stream.pipeThrough(new TextDecoderStream())) emit(text)
}
