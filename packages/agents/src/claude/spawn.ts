import { EventEmitter } from 'node:events'
import { posix } from 'node:path'
import { PassThrough, type Readable, Writable } from 'node:stream'
import { shellQuote } from '@cairn/protocol'
import type { Sandbox, SandboxProcess } from '@cairn/sandbox'

/** The part of the types of the Claude Agent SDK that is used here. */
export interface ClaudeSpawnOptions {
  command: string
  args: string[]
  cwd?: string
  env: Record<string, string | undefined>
  signal: AbortSignal
}

type Exit = (code: number | null, signal: NodeJS.Signals | null) => void
type Failure = (error: Error) => void

export interface ClaudeProcess {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly killed: boolean
  readonly exitCode: number | null
  kill(signal: NodeJS.Signals): boolean
  on(event: 'exit', listener: Exit): void
  on(event: 'error', listener: Failure): void
  once(event: 'exit', listener: Exit): void
  once(event: 'error', listener: Failure): void
  off(event: 'exit', listener: Exit): void
  off(event: 'error', listener: Failure): void
}

/** What Claude Code needs of this program's environment. The rest, such as PATH and HOME, is the machine's. */
const passedOn = /^(?:ANTHROPIC|CLAUDE)_/

/**
 * Starts Claude Code in a sandbox, where the workspace is mounted, for `spawnClaudeCodeProcess` of `query`. Claude Code must
 * be installed there: say where with `pathToClaudeCodeExecutable`.
 *
 * @example
 * ```ts
 * const options = { spawnClaudeCodeProcess: spawnIn(sandbox), pathToClaudeCodeExecutable: 'claude' }
 * for await (const message of query({ prompt: 'Fix the test.', options })) show(message)
 * ```
 */
export function spawnIn(sandbox: Sandbox): (options: ClaudeSpawnOptions) => ClaudeProcess {
  return (options) => new SandboxedProcess(sandbox, options)
}

class SandboxedProcess extends EventEmitter implements ClaudeProcess {
  readonly stdin: Writable
  readonly stdout: Readable
  killed = false
  exitCode: number | null = null
  readonly #starting: Promise<SandboxProcess>

  constructor(sandbox: Sandbox, { command, args, cwd, env, signal }: ClaudeSpawnOptions) {
    super()
    const out = new PassThrough()
    this.stdout = out
    const given = Object.entries(env).filter(([name]) => passedOn.test(name))
    this.#starting = sandbox.start([command, ...args].map(shellQuote).join(' '), {
      cwd: isWithin(sandbox.workDir, cwd) ? cwd : sandbox.workDir,
      env: Object.fromEntries(given) as Record<string, string>,
      stdin: true,
    })
    this.stdin = inputOf(this.#starting)
    signal.addEventListener('abort', () => this.kill(), { once: true })
    void this.#follow(out)
  }

  /** All of it, whatever the signal: what it started would go on otherwise. */
  kill(): boolean {
    if (this.exitCode !== null) return false
    this.killed = true
    void this.#starting.then((process) => process.kill()).catch(() => undefined)
    return true
  }

  async #follow(out: PassThrough): Promise<void> {
    try {
      const process = await this.#starting
      const said = async (): Promise<void> => {
        for await (const bytes of process.stdout) out.write(bytes)
        out.end()
      }
      const [code] = await Promise.all([process.wait(), said(), process.stderr.pipeTo(nowhere())])
      this.exitCode = code
      this.emit('exit', code, null)
    } catch (error) {
      out.end()
      this.emit('error', error)
    }
  }
}

function isWithin(directory: string, path: string | undefined): path is string {
  return path !== undefined && !posix.relative(directory, path).startsWith('..')
}

/** What is written before the process has started waits for it. */
function inputOf(starting: Promise<SandboxProcess>): Writable {
  const writing = starting.then(({ stdin }) => stdin!.getWriter())
  // Told as an error of the process.
  writing.catch(() => undefined)
  const settle = (work: Promise<void>, done: (error?: Error | null) => void): void =>
    void work.then(() => done(), done)
  return new Writable({
    write: (chunk: Buffer, _encoding, done) =>
      settle(
        writing.then((writer) => writer.write(chunk)),
        done,
      ),
    final: (done) =>
      settle(
        writing.then((writer) => writer.close()),
        done,
      ),
  })
}

function nowhere(): WritableStream<Uint8Array> {
  return new WritableStream()
}
