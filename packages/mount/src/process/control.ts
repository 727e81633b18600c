import { rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { join } from 'node:path'

export type ControlCommand = 'status' | 'drain' | 'unmount'

/** One line: where a long command stands, or its end. */
export type ControlReply =
  | { readonly type: 'progress'; readonly pendingOps: number; readonly pendingBytes: number }
  | { readonly type: 'done'; readonly result: unknown }
  | { readonly type: 'failed'; readonly message: string }

export type AnswerCommand = (
  command: ControlCommand,
  progress: (reply: ControlReply) => void,
) => Promise<unknown>

export function controlPath(directory: string): string {
  return join(directory, 'control.sock')
}

/** Takes commands from `cairn mount status|drain` and `cairn umount`, one a connection. */
export function serveControl(directory: string, answer: AnswerCommand): Server {
  const path = controlPath(directory)
  rmSync(path, { force: true })
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    createInterface(socket).once('line', (line) => {
      void answerLine(socket, line, answer)
    })
  })
  // The directory is its owner's alone, and so is the socket.
  server.listen(path)
  return server
}

async function answerLine(socket: Socket, line: string, answer: AnswerCommand): Promise<void> {
  const send = (reply: ControlReply): boolean => socket.write(`${JSON.stringify(reply)}\n`)
  try {
    const { command } = JSON.parse(line) as { command: ControlCommand }
    send({ type: 'done', result: await answer(command, send) })
  } catch (error) {
    send({ type: 'failed', message: error instanceof Error ? error.message : String(error) })
  }
  socket.end()
}

/** Asks a mount's daemon. Rejects when nobody answers there. */
export function askControl(
  directory: string,
  command: ControlCommand,
  onProgress: (reply: Extract<ControlReply, { type: 'progress' }>) => void = () => undefined,
  signal?: AbortSignal,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = connect(controlPath(directory), () =>
      socket.write(`${JSON.stringify({ command })}\n`),
    )
    const abort = (): void => {
      socket.destroy()
      reject(signal?.reason as Error)
    }
    signal?.addEventListener('abort', abort, { once: true })
    socket.on('error', reject)
    socket.on('close', () => {
      signal?.removeEventListener('abort', abort)
      reject(new Error('the daemon ended before it answered'))
    })
    createInterface(socket).on('line', (line) => {
      const reply = JSON.parse(line) as ControlReply
      if (reply.type === 'progress') onProgress(reply)
      else if (reply.type === 'done') resolve(reply.result)
      else reject(new Error(reply.message))
    })
  })
}
