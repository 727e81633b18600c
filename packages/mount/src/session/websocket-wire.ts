import type { Socket } from 'node:net'
import {
  CairnError,
  decodeReply,
  encodeRequest,
  fromFailure,
  messageBytesMax,
  requestTypesHeader,
  type SessionReply,
  type SessionRequest,
  Writer,
} from '@cairn/protocol'
import { WebSocket } from 'ws'
import type { ServerLink } from './link.ts'
import type { Connect, Wire, WireEvents } from './wire.ts'

export interface WebSocketOptions {
  /** How often the server says that it is there; silent for three times as long, it is taken to be gone. */
  readonly heartbeatMs?: number
  /** Is told what becomes of the connections. */
  readonly link?: ServerLink
}

const silentBeatsMax = 3
const idleMax = 4

/** Connects to a server's sessions over a WebSocket. */
export function connectWebSocket(
  server: string,
  key: string,
  { heartbeatMs = 10_000, link }: WebSocketOptions = {},
): Connect {
  const url = `${server.replace(/^http/, 'ws')}/v1/sessions`
  return (events) =>
    new Promise<Wire>((resolve, reject) => {
      const socket = new WebSocket(url, {
        headers: { authorization: `Bearer ${key}` },
        maxPayload: messageBytesMax,
        perMessageDeflate: false,
        // Masks keep pages in browsers from writing what a proxy would mistake for its own; a mount is no page, and
        // masking forty megabytes twice costs more than sending them.
        generateMask: (mask) => mask.fill(0),
        handshakeTimeout: silentBeatsMax * heartbeatMs,
      })
      const fail = (error: Error): void => {
        link?.failed(error.message)
        reject(error)
      }
      if (link) tell(link, socket)
      socket.on('error', fail)
      socket.on('unexpected-response', (request, { statusCode = 0, headers }) => {
        request.destroy()
        fail(refusal(server, statusCode, headers['cairn-error']))
      })
      let requestTypes: number | undefined
      socket.on('upgrade', ({ socket: raw, headers }) => {
        endWhenSilent(socket, raw, heartbeatMs)
        requestTypes = Number(headers[requestTypesHeader])
      })
      socket.on('message', (data: Buffer) => {
        const reply = hear(socket, data, events)
        if (reply?.type === 'goodbye') link?.failed(fromFailure(reply).message)
      })
      socket.on('close', () => events.onClose())
      socket.once('open', () =>
        resolve({
          requestTypes,
          send: sender(socket),
          close: () => socket.close(),
          ping: pinger(socket),
        }),
      )
    })
}

function tell(link: ServerLink, socket: WebSocket): void {
  socket.on('open', () => link.opened(socket))
  socket.on('close', () => link.closed(socket))
  for (const event of ['message', 'ping', 'pong']) socket.on(event, () => link.heard())
}

/** Megabytes that are made anew for each message keep the garbage collector at work: what is sent is written over. */
function sender(socket: WebSocket): (request: SessionRequest) => void {
  const idle: Writer[] = []
  return (request) => {
    const writer = idle.pop() ?? new Writer()
    socket.send(encodeRequest(request, writer), () => {
      if (idle.length < idleMax) idle.push(writer)
    })
  }
}

/** The other end answers a ping behind everything that came before it. */
function pinger(socket: WebSocket): () => Promise<void> {
  const waiting = new Map<string, () => void>()
  let pings = 0
  socket.on('pong', (data) => {
    const ping = data.toString()
    waiting.get(ping)?.()
    waiting.delete(ping)
  })
  return () =>
    new Promise((answered) => {
      const ping = String(++pings)
      waiting.set(ping, answered)
      socket.ping(ping)
    })
}

/** Leave a server that sends an unreadable message. */
function hear(socket: WebSocket, data: Buffer, events: WireEvents): SessionReply | undefined {
  let reply
  try {
    reply = decodeReply(data)
  } catch {
    socket.terminate()
    return undefined
  }
  events.onReply(reply)
  return reply
}

/** A network that is gone says nothing. Bytes are counted, not messages: a large one may take long. */
function endWhenSilent(socket: WebSocket, raw: Socket, heartbeatMs: number): void {
  let [heardBytes, silentBeats] = [raw.bytesRead, 0]
  const timer = setInterval(() => {
    silentBeats = raw.bytesRead === heardBytes ? silentBeats + 1 : 0
    heardBytes = raw.bytesRead
    if (silentBeats >= silentBeatsMax) socket.terminate()
  }, heartbeatMs)
  timer.unref()
  socket.on('close', () => clearInterval(timer))
}

function refusal(server: string, status: number, code: unknown): CairnError {
  const details = { what: `open a session at ${server}`, reason: `it answers ${status}` }
  if (code === 'access_ended') return new CairnError(code, details)
  if (status === 401) return new CairnError('unauthenticated', details)
  if (status === 404) return new CairnError('not_found', details)
  return new CairnError('storage_unavailable', details)
}
