import type { ExecCommandArgs, SandboxExecResult, WriteStdinArgs } from '@openai/agents/sandbox'
import { shellQuote } from '@cairn/protocol'
import type { Sandbox, SandboxProcess } from '@cairn/sandbox'
import { currentToolCall } from '../tool-call.ts'

interface Running {
  readonly process: SandboxProcess
  /** Only a terminal has an input: programs such as rg would wait for one. */
  readonly input: WritableStreamDefaultWriter<Uint8Array> | undefined
  /** What it said since the model was told last. */
  stdout: string
  stderr: string
  output: string
  readonly ended: Promise<void>
  exitCode: number | undefined
}

const yieldMs = { start: 10_000, write: 250 } as const
/** What one answer keeps of each stream; the beginning of more is dropped. */
const charsKept = 10 << 20
const charsPerToken = 4
/** Ctrl-C. */
const interrupt = '\u0003'

/** The commands of a session, some of which go on while the model does something else. */
export class Commands {
  readonly #running = new Map<number, Running>()
  #lastId = 0

  async exec(
    sandbox: Sandbox,
    args: ExecCommandArgs,
    env: Readonly<Record<string, string>>,
  ): Promise<SandboxExecResult> {
    const begin = performance.now()
    const { workdir: cwd = sandbox.workDir, yieldTimeMs = yieldMs.start, tty = false } = args
    const process = await sandbox.start(lineOf(args), {
      cwd,
      env,
      stdin: tty,
      toolCall: currentToolCall(),
    })
    const running = follow(process)
    const id = ++this.#lastId
    this.#running.set(id, running)
    return this.#answer(id, running, { ...args, begin, yieldTimeMs })
  }

  async write({ sessionId, chars = '', ...args }: WriteStdinArgs): Promise<SandboxExecResult> {
    const begin = performance.now()
    const running = this.#running.get(sessionId)
    if (running === undefined)
      throw new Error(
        `cannot write to the command ${sessionId}: it has ended. Start it again with exec_command.`,
      )
    if (running.input !== undefined) await running.input.write(new TextEncoder().encode(chars))
    else if (chars === interrupt) await running.process.kill()
    else if (chars !== '')
      throw new Error(
        `cannot write to the command ${sessionId}: its input is closed. Start it again with tty: true.`,
      )
    const { yieldTimeMs = yieldMs.write } = args
    return this.#answer(sessionId, running, { ...args, begin, yieldTimeMs })
  }

  async #answer(
    sessionId: number,
    running: Running,
    asked: {
      readonly begin: number
      readonly yieldTimeMs: number
      readonly maxOutputTokens?: number
    },
  ): Promise<SandboxExecResult> {
    await endOrTime(running.ended, asked.yieldTimeMs)
    const { stdout, stderr, output, exitCode } = running
    Object.assign(running, { stdout: '', stderr: '', output: '' })
    const wallTimeSeconds = (performance.now() - asked.begin) / 1000
    const told = { ...cut(output, asked.maxOutputTokens), stdout, stderr, wallTimeSeconds }
    if (exitCode === undefined) return { ...told, sessionId }
    this.#running.delete(sessionId)
    return { ...told, exitCode }
  }
}

/** As the model asks for it: with a login shell, another shell, or a terminal. */
function lineOf({ cmd, shell = 'bash', login = true, tty = false }: ExecCommandArgs): string {
  const line = `${shellQuote(shell)} ${login ? '-lc' : '-c'} ${shellQuote(cmd)}`
  return tty ? `script -qec ${shellQuote(line)} /dev/null` : line
}

function follow(process: SandboxProcess): Running {
  const gather = async (stream: ReadableStream<Uint8Array>, name: 'stdout' | 'stderr') => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      running[name] = (running[name] + text).slice(-charsKept)
      running.output = (running.output + text).slice(-charsKept)
    }
  }
  const input = process.stdin?.getWriter()
  // It closes with the command.
  input?.closed.catch(() => undefined)
  const running: Running = {
    process,
    input,
    stdout: '',
    stderr: '',
    output: '',
    exitCode: undefined,
    ended: Promise.all([
      process.wait(),
      gather(process.stdout, 'stdout'),
      gather(process.stderr, 'stderr'),
    ]).then(([code]) => void (running.exitCode = code)),
  }
  // Told to those that wait.
  running.ended.catch(() => undefined)
  return running
}

async function endOrTime(ended: Promise<void>, timeMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, timeMs)
  try {
    await Promise.race([ended, promise])
  } finally {
    clearTimeout(timer)
  }
}

function cut(
  output: string,
  tokensMax = Infinity,
): { readonly output: string; readonly originalTokenCount?: number } {
  const half = (tokensMax * charsPerToken) / 2
  if (output.length <= half * 2) return { output }
  const more = output.length - half * 2
  return {
    output: `${output.slice(0, half)}\n[${more} more characters]\n${output.slice(-half)}`,
    originalTokenCount: Math.ceil(output.length / charsPerToken),
  }
}

/** What the model reads. */
export function describeResult(result: SandboxExecResult): string {
  const { output, exitCode, sessionId, wallTimeSeconds } = result
  const how =
    sessionId === undefined
      ? `The command ended with ${exitCode}`
      : `The command goes on as session ${sessionId}`
  return `${how}, after ${wallTimeSeconds.toFixed(2)} s. Output:\n${output}`
}
