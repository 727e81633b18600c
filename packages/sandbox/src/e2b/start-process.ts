import type { CommandHandle, Sandbox as E2BInstance } from 'e2b'
import type { SandboxProcess } from '../sandbox.ts'
import { toResult } from './results.ts'

/** E2B's own `kill` ends the shell alone. */
const killTree =
  'k() { for c in $(cat /proc/$1/task/*/children 2>&-); do k $c; done; kill -KILL $1 2>&-; }; k '
const killTimeoutMs = 30_000

interface Options {
  readonly cwd: string
  readonly envs?: Record<string, string>
  readonly stdin: boolean
}

/** A command without a deadline, whose output is passed on while it comes. */
export async function startProcess(
  e2b: E2BInstance,
  command: string,
  options: Options,
): Promise<SandboxProcess> {
  const [stdout, stderr] = [openStream(), openStream()]
  const handle = await e2b.commands.run(command, {
    ...options,
    background: true,
    timeoutMs: 0,
    requestTimeoutMs: 0,
    onStdout: stdout.push,
    onStderr: stderr.push,
  })
  const code = toResult(handle.wait()).then((result) => {
    stdout.end()
    stderr.end()
    return result.code
  })
  // Told to those that wait.
  code.catch(() => undefined)
  return {
    pid: handle.pid,
    ...(options.stdin && { stdin: inputOf(handle) }),
    stdout: stdout.stream,
    stderr: stderr.stream,
    wait: () => code,
    kill: async () => {
      const script = killTree + handle.pid
      await toResult(e2b.commands.run(script, { user: 'root', cwd: '/', timeoutMs: killTimeoutMs }))
    },
  }
}

function inputOf(handle: CommandHandle): WritableStream<Uint8Array> {
  return new WritableStream({
    write: (bytes) => handle.sendStdin(bytes),
    close: () => handle.closeStdin(),
  })
}

interface TextStream {
  readonly stream: ReadableStream<Uint8Array>
  readonly push: (text: string) => void
  readonly end: () => void
}

/** Text as a stream of bytes. A reader that gave up is no reason to fail. */
function openStream(): TextStream {
  const encoder = new TextEncoder()
  let controller!: ReadableStreamDefaultController<Uint8Array>
  let isOpen = true
  const stream = new ReadableStream<Uint8Array>({
    start: (one) => void (controller = one),
    cancel: () => void (isOpen = false),
  })
  return {
    stream,
    push: (text) => {
      if (isOpen) controller.enqueue(encoder.encode(text))
    },
    end: () => {
      if (isOpen) controller.close()
      isOpen = false
    },
  }
}
