import { chmodSync, closeSync, constants, openSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { type FailureFields, fromFailure } from '@cairn/protocol'
import { hearLines, sendLine } from './json-lines.ts'
import { mountFailure } from './mount-failure.ts'

export type ControlCommand =
  | 'status'
  | 'drain'
  | 'unmount'
  | 'begin-call'
  | 'end-call'
  | 'note-error'

export interface DaemonQuestion {
  readonly command: ControlCommand
  /** That begins or ends. */
  readonly toolCall?: string | undefined
  /** For `unmount`: what waits in local directories is not sent. */
  readonly keepsLocal?: boolean | undefined
  /** For work that another process does for the mount. */
  readonly error?: string | undefined
}

/** One line: where a long command stands, or its end. */
export type ControlReply =
  | { readonly type: 'progress'; readonly pendingOps: number; readonly pendingBytes: number }
  | { readonly type: 'done'; readonly result: unknown }
  | { readonly type: 'failed'; readonly failure: FailureFields }

export type AnswerCommand = (
  request: DaemonQuestion,
  progress: (reply: ControlReply) => void,
  /** No caller waits for the answer any more. */
  gone: AbortSignal,
) => Promise<unknown>

const socketName = 'control.sock'
/** A socket's address has no room for more. */
const addressBytesMax = 107
const lastWordsMs = 1000
const retryMs = 1000

/** Takes commands from `cairn mount status|drain` and `cairn umount`, one a connection. */
export function serveControl(directory: string, answer: AnswerCommand): Server {
  rmSync(join(directory, socketName), { force: true })
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    hearLines(socket, (request) => void answerOne(socket, request, answer))
  })
  const listen = (): void => {
    const address = addressOf(directory)
    server.listen(address.path, () => address.release())
    // The directory may have been there before, and open to others. Node binds before `listen` returns.
    if (server.listening) chmodSync(address.path, 0o600)
  }
  // A full disk has no place for it: until it has, the mount goes on without.
  server.on('error', () => setTimeout(listen, retryMs).unref())
  listen()
  return server
}

/** What was answered gets a moment to arrive. */
export async function closeControl(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
    setTimeout(resolve, lastWordsMs).unref()
  })
}

/** By way of an open descriptor where the directory lies too deep for a socket's address. */
function addressOf(directory: string): { readonly path: string; release(): void } {
  const path = join(directory, socketName)
  if (Buffer.byteLength(path) <= addressBytesMax) return { path, release: () => undefined }
  const fd = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY)
  return { path: `/proc/self/fd/${fd}/${socketName}`, release: () => closeSync(fd) }
}

async function answerOne(socket: Socket, request: unknown, answer: AnswerCommand): Promise<void> {
  const send = (reply: ControlReply): void => sendLine(socket, reply)
  const gone = new AbortController()
  socket.on('close', () => gone.abort())
  try {
    const result = await answer(request as DaemonQuestion, send, gone.signal)
    send({ type: 'done', result })
  } catch (error) {
    send({ type: 'failed', failure: mountFailure(error) })
  }
  socket.end()
}

/**
 * Asks a mount's daemon. Rejects with a system error when no daemon answers, and with the
 * error of the daemon when it refuses.
 */
export function askControl(
  directory: string,
  asked: ControlCommand | DaemonQuestion,
  onProgress: (reply: Extract<ControlReply, { type: 'progress' }>) => void = () => undefined,
  signal?: AbortSignal,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const address = addressOf(directory)
    const request = typeof asked === 'string' ? { command: asked } : asked
    const socket = connect(address.path, () => sendLine(socket, request))
    const abort = (): void => {
      socket.destroy()
      reject(signal?.reason as Error)
    }
    signal?.addEventListener('abort', abort, { once: true })
    socket.on('error', reject)
    socket.on('close', () => {
      address.release()
      signal?.removeEventListener('abort', abort)
      reject(new Error('the daemon ended before it answered'))
    })
    hearLines(socket, (message) => {
      const reply = message as ControlReply
      if (reply.type === 'progress') onProgress(reply)
      else if (reply.type === 'done') resolve(reply.result)
      else reject(fromFailure(reply.failure))
    })
  })
}
