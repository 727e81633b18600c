import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import {
  CairnError,
  encodeReply,
  httpStatusOf,
  isCairnError,
  messageBytesMax,
  type SessionReply,
} from '@cairn/protocol'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import type { Access } from '../access/access.ts'
import { Authenticator, type AuthenticatorParts } from '../access/authenticator.ts'
import type { AccessWatch } from '../access/access-watch.ts'
import { ordinaryPlaces, type PlaceLimits, Places } from '../access/places.ts'
import type { RequireHost } from '../access/hosts.ts'
import type { ClientSocket } from './connection.ts'
import { keepAlive } from './heartbeat.ts'
import { MessagePieces } from './message-pieces.ts'
import { MessagesInHand } from './messages-in-hand.ts'
import { type ServeParts, serveConnection } from './serve-connection.ts'

const heartbeatMs = 10_000
/** A socket that says nothing is no session, and takes a place from others. */
const helloMs = 10_000
const lingerMs = 1000

export interface SessionDoorParts extends Omit<ServeParts, 'pieces'>, AuthenticatorParts {
  /** Ends sessions whose token or key is over. */
  readonly watch?: AccessWatch
  /** How often a socket is asked whether its other end is there. */
  readonly heartbeatMs?: number
  /** How many may be open at this server: each may ask for megabytes at once, so more of them belong on more servers. */
  readonly places?: PlaceLimits
  /** How long a socket may be open before its hello. */
  readonly helloMs?: number
  /** Refuses requests for other hosts; undefined where any is answered. */
  readonly requireHost?: RequireHost | undefined
}

interface Refusal {
  readonly status: string
  readonly why: string
  /** The code of the error, where it is one. */
  readonly code?: string
}

/** Where sessions come in. */
const sessionsPath = '/v1/sessions'

/** Takes WebSockets on `/v1/sessions`; gives what ends them all. */
export function openSessionDoor(server: Server, given: SessionDoorParts): () => void {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: messageBytesMax,
    perMessageDeflate: false,
  })
  const parts = { ...given, pieces: new MessagePieces() }
  const authenticator = new Authenticator(parts)
  const places = new Places(parts.places ?? ordinaryPlaces, 'sessions open')
  const inHand = new MessagesInHand()
  server.on('upgrade', (request, socket, head) => {
    // A client that goes while the store looks up its key must not crash the server.
    socket.on('error', () => socket.destroy())
    void admit(authenticator, parts, request, places).then((admitted) => {
      if ('status' in admitted) return void socket.end(refusalText(admitted))
      socket.once('close', admitted.leave)
      if (socket.destroyed) return admitted.leave()
      sockets.handleUpgrade(request, socket, head, (ws) => {
        keepAlive(ws, request.socket, parts.heartbeatMs ?? heartbeatMs)
        serveSocket(ws, request.socket, { ...parts, inHand }, admitted.access)
      })
    })
  })
  return () => {
    for (const socket of sockets.clients) socket.close(1001, 'the server stops')
    sockets.close()
  }
}

interface Admitted {
  readonly access: Access
  /** Gives its place to others. */
  readonly leave: () => void
}

/** Who comes, or why they are refused. */
async function admit(
  authenticator: Authenticator,
  { requireHost }: SessionDoorParts,
  { url, headers, socket }: IncomingMessage,
  places: Places,
): Promise<Admitted | Refusal> {
  if (url !== sessionsPath) return { status: '404 Not Found', why: `want ${sessionsPath}` }
  try {
    requireHost?.(headers)
    const address = socket.remoteAddress ?? ''
    const access = await authenticator.authenticate(headers.authorization, address)
    const leave = places.take(access, address)
    return typeof leave === 'string' ? unavailable(leave) : { access, leave }
  } catch (error) {
    return refusalOf(error)
  }
}

function refusalOf(error: unknown): Refusal {
  // That says nothing about the key: the other end tries again.
  if (!isCairnError(error) || httpStatusOf(error.code) >= 500)
    return unavailable('the store does not answer')
  const number = httpStatusOf(error.code)
  const status = `${number} ${STATUS_CODES[number]}`
  return { status, why: error.message, code: error.code }
}

function unavailable(why: string): Refusal {
  return { status: '503 Service Unavailable', why }
}

function refusalText({ status, why, code }: Refusal): string {
  const body = `cannot open a session: ${why}\n`
  const head = [
    `HTTP/1.1 ${status}`,
    'Content-Type: text/plain; charset=utf-8',
    'X-Content-Type-Options: nosniff',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(code === undefined ? [] : [`Cairn-Error: ${code}`]),
    'Connection: close',
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}

function serveSocket(
  socket: WebSocket,
  raw: Socket,
  parts: SessionDoorParts & ServeParts & { readonly inHand: MessagesInHand },
  access: Access,
): void {
  const { actor, owner, scope } = access
  const caller = { id: actor, owner, ...(scope ? { scope } : {}) }
  const served = serveConnection(connectionOf(socket, raw), parts, caller)
  if (parts.watch) socket.on('close', parts.watch.add(access, served.end))
  const silence = setTimeout(() => {
    served.end(new CairnError('too_slow', { what: 'begin', reason: 'no hello came' }))
    // A silent client may not close the socket either, and would keep its place for half a minute.
    setTimeout(() => socket.terminate(), lingerMs).unref()
  }, parts.helloMs ?? helloMs)
  socket.once('message', () => clearTimeout(silence)).once('close', () => clearTimeout(silence))
  const inHand = parts.inHand.of(socket)
  socket.on('message', (data) => {
    const bytes = bytesOf(data)
    void inHand.hold(bytes.length, served.onMessage(bytes))
  })
  socket.on('close', () => (inHand.end(), served.onClose()))
  socket.on('error', () => socket.terminate())
}

/** What many sessions are sent is the same object for all of them. */
const encodedBatches = new WeakMap<SessionReply, Uint8Array>()

function encodeOnce(reply: SessionReply): Uint8Array {
  if (reply.type !== 'batch') return encodeReply(reply)
  let encoded = encodedBatches.get(reply)
  if (!encoded) encodedBatches.set(reply, (encoded = encodeReply(reply)))
  return encoded
}

/** What is sent in one turn goes out with one call of the kernel, which is most of what a small message costs. */
function corkForTurn(raw: Socket): void {
  if (raw.writableCorked > 0) return
  raw.cork()
  process.nextTick(() => raw.uncork())
}

function connectionOf(socket: WebSocket, raw: Socket): ClientSocket {
  return {
    send: (reply: SessionReply) => {
      corkForTurn(raw)
      socket.send(encodeOnce(reply))
    },
    get bufferedBytes() {
      return socket.bufferedAmount
    },
    close: () => socket.close(),
  }
}

function bytesOf(data: RawData): Uint8Array {
  if (data instanceof ArrayBuffer) return new Uint8Array(data)
  return Array.isArray(data) ? Buffer.concat(data) : data
}
