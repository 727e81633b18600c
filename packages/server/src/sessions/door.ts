import type { IncomingMessage, Server } from 'node:http'
import { encodeReply, messageBytesMax, type SessionReply } from '@cairn/protocol'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { type FindKey, hashSecret, type KnownKey } from '../http/authenticate.ts'
import type { Connection } from './connection.ts'
import { keepAlive } from './heartbeat.ts'
import { type ServeParts, serveConnection } from './serve-connection.ts'

const heartbeatMs = 10_000
/** Each may ask for megabytes at once: more of them belong on more servers. */
const sessionsMax = 2000
const unauthorized: Refusal = { status: '401 Unauthorized', why: 'want a valid key' }

export interface SessionDoorParts extends ServeParts {
  readonly findKey: FindKey
  /** How often a socket is asked whether its other end is there. */
  readonly heartbeatMs?: number
  /** How many may be open at this server. */
  readonly sessionsMax?: number
}

interface Refusal {
  readonly status: string
  readonly why: string
}

/** Where sessions come in. */
export const sessionsPath = '/v1/sessions'

/** Takes WebSockets on `/v1/sessions`; gives what ends them all. */
export function openSessionDoor(server: Server, parts: SessionDoorParts): () => void {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: messageBytesMax,
    perMessageDeflate: false,
  })
  server.on('upgrade', (request, socket, head) => {
    // Whoever goes while the store is asked for the key must not take the server along.
    socket.on('error', () => socket.destroy())
    void admit(parts, request, sockets.clients.size).then((admitted) => {
      if ('status' in admitted) return void socket.end(refusalText(admitted))
      sockets.handleUpgrade(request, socket, head, (ws) => {
        keepAlive(ws, request.socket, parts.heartbeatMs ?? heartbeatMs)
        serveSocket(ws, parts, admitted)
      })
    })
  })
  return () => {
    for (const socket of sockets.clients) socket.close(1001, 'the server stops')
    sockets.close()
  }
}

/** Who comes, or why they are refused. */
async function admit(
  { findKey, sessionsMax: most = sessionsMax }: SessionDoorParts,
  { url, headers }: IncomingMessage,
  open: number,
): Promise<KnownKey | Refusal> {
  if (url !== sessionsPath) return { status: '404 Not Found', why: `want ${sessionsPath}` }
  const secret = /^Bearer ([\x21-\x7e]{8,512})$/.exec(headers.authorization ?? '')?.[1]
  if (secret === undefined) return unauthorized
  try {
    const key = await findKey(hashSecret(secret))
    if (!key) return unauthorized
    return open < most
      ? key
      : unavailable(`this server has ${open} sessions open, and takes no more`)
  } catch {
    // That says nothing about the key: the other end tries again.
    return unavailable('the store does not answer')
  }
}

function unavailable(why: string): Refusal {
  return { status: '503 Service Unavailable', why }
}

function refusalText({ status, why }: Refusal): string {
  const body = `cannot open a session: ${why}\n`
  const type = 'Content-Type: text/plain; charset=utf-8'
  return `HTTP/1.1 ${status}\r\n${type}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`
}

function serveSocket(socket: WebSocket, parts: SessionDoorParts, key: KnownKey): void {
  const served = serveConnection(connectionOf(socket), parts, key)
  socket.on('message', (data) => served.onMessage(bytesOf(data)))
  socket.on('close', () => served.onClose())
  socket.on('error', () => socket.terminate())
}

function connectionOf(socket: WebSocket): Connection {
  return {
    send: (reply: SessionReply) => socket.send(encodeReply(reply)),
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
