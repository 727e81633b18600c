import type { Sandbox, SandboxProcess } from '@cairn/sandbox'
import { currentToolCall } from '../tool-call.ts'

export interface BoundedRun {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  /** How much is kept, for output and for errors each; the rest is read and dropped. */
  readonly bytesMax?: number
  readonly signal?: AbortSignal | undefined
}

export interface BoundedResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  readonly timedOut: boolean
  readonly truncated: boolean
}

/** Runs a command to its end, with limits on its time and on what is kept of its output. Rejects when aborted. */
export async function runBounded(
  sandbox: Sandbox,
  command: string,
  { cwd, env, timeoutMs, bytesMax = Infinity, signal }: BoundedRun = {},
): Promise<BoundedResult> {
  signal?.throwIfAborted()
  const process = await sandbox.start(command, {
    ...(cwd && { cwd }),
    ...(env && { env }),
    toolCall: currentToolCall(),
  })
  let timedOut = false
  const end = (): void => {
    timedOut = true
    void process.kill().catch(() => undefined)
  }
  const timer = timeoutMs === undefined ? undefined : setTimeout(end, timeoutMs)
  const abort = (): void => void process.kill().catch(() => undefined)
  signal?.addEventListener('abort', abort, { once: true })
  try {
    const [stdout, stderr, exitCode] = await finish(process, bytesMax)
    signal?.throwIfAborted()
    const truncated = stdout.truncated || stderr.truncated
    return { exitCode, stdout: stdout.text, stderr: stderr.text, timedOut, truncated }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

function finish(process: SandboxProcess, bytesMax: number): Promise<[Gathered, Gathered, number]> {
  return Promise.all([
    gather(process.stdout, bytesMax),
    gather(process.stderr, bytesMax),
    process.wait(),
  ])
}

interface Gathered {
  readonly text: string
  readonly truncated: boolean
}

async function gather(stream: ReadableStream<Uint8Array>, bytesMax: number): Promise<Gathered> {
  const chunks: Uint8Array[] = []
  let room = bytesMax
  let truncated = false
  for await (const chunk of stream) {
    truncated ||= chunk.length > room
    if (room > 0) chunks.push(chunk.subarray(0, room))
    room = Math.max(0, room - chunk.length)
  }
  return { text: Buffer.concat(chunks).toString(), truncated }
}
