import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import {
  CairnError,
  encodeReply,
  httpStatusOf,
  isCairnError,
  messageBytesMax,
  requestTypes,
  requestTypesHeader,
  type SessionReply,
} from '@cairn/protocol'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import type { Access } from '../access/access.ts'
import { Authenticator, type AuthenticatorParts } from '../access/authenticator.ts'
import type { AccessWatch } from '../access/access-watch.ts'
import { ordinaryPlaces, type PlaceLimits, Places } from '../access/places.ts'
import type { RequireHost } from '../access/hosts.ts'
import { peerHeader, type RelayedRequest } from '../peers/peer-proof.ts'
import type { Peers } from '../peers/peers.ts'
import { type Arrived, serveAtHome } from './at-home.ts'
import type { ClientSocket } from './connection.ts'
import { corkForTurn } from './cork.ts'
import { keepAlive } from './heartbeat.ts'
import { MessagePieces } from './message-pieces.ts'
import { MessagesInHand } from './messages-in-hand.ts'
import { type ServedConnection, type ServeParts, serveConnection } from './serve-connection.ts'

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
  /** Other servers, to which sessions are relayed; absent where there are none. */
  readonly peers?: Peers | undefined
  /** Counts the relayed sessions that are open. */
  readonly observeRelayed?: (change: 1 | -1) => void
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
  sockets.on('headers', (headers) => headers.push(`${requestTypesHeader}: ${requestTypes}`))
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
        serveSocket({ ...admitted, socket: ws, raw: request.socket }, { ...parts, inHand })
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
  readonly request: RelayedRequest
  readonly isRelayed: boolean
  /** Gives its place to others. */
  readonly leave: () => void
}

/** Who comes, or why they are refused. */
async function admit(
  authenticator: Authenticator,
  { requireHost, peers }: SessionDoorParts,
  { url, headers, socket }: IncomingMessage,
  places: Places,
): Promise<Admitted | Refusal> {
  if (url !== sessionsPath) return { status: '404 Not Found', why: `want ${sessionsPath}` }
  try {
    requireHost?.(headers)
    const { authorization } = headers
    const proof = peers && headers[peerHeader]?.toString()
    const address = proof
      ? await peers.proof.read(proof, authorization)
      : (socket.remoteAddress ?? 'unknown')
    const access = await authenticator.authenticate(authorization, address)
    const leave = places.take(access, address)
    if (typeof leave === 'string') return unavailable(leave)
    const request = { address, authorization }
    return { access, request, isRelayed: proof !== undefined, leave }
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

type DoorParts = SessionDoorParts & ServeParts & { readonly inHand: MessagesInHand }

function serveSocket(
  client: Omit<Admitted, 'leave'> & { readonly socket: WebSocket; readonly raw: Socket },
  parts: DoorParts,
): void {
  const { access, socket } = client
  const served = serveClient(client, parts)
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

function serveClient(
  client: Omit<Arrived, 'connection' | 'caller'> & { readonly access: Access },
  parts: DoorParts,
): ServedConnection {
  const { actor, owner, scope } = client.access
  const caller = { id: actor, owner, ...(scope ? { scope } : {}) }
  const connection = connectionOf(client.socket, client.raw)
  const { peers, heartbeatMs: beatMs = heartbeatMs } = parts
  if (!peers) return serveConnection(connection, parts, caller)
  return serveAtHome({ ...client, connection, caller }, { ...parts, peers, heartbeatMs: beatMs })
}

/** What many sessions are sent is the same object for all of them. */
const encodedBatches = new WeakMap<SessionReply, Uint8Array>()

function encodeOnce(reply: SessionReply): Uint8Array {
  if (reply.type !== 'batch') return encodeReply(reply)
  let encoded = encodedBatches.get(reply)
  if (!encoded) encodedBatches.set(reply, (encoded = encodeReply(reply)))
  return encoded
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
