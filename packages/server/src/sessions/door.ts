import type { Server } from 'node:http'
import { encodeReply, messageBytesMax, type SessionReply } from '@cairn/protocol'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { type FindKey, hashSecret, type KnownKey } from '../http/authenticate.ts'
import type { Connection } from './connection.ts'
import { type ServeParts, serveConnection } from './serve-connection.ts'

export interface SessionDoorParts extends ServeParts {
  readonly findKey: FindKey
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
    void admit(parts, request.url, request.headers.authorization).then((key) => {
      if (key) sockets.handleUpgrade(request, socket, head, (ws) => serveSocket(ws, parts, key))
      else socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n')
    })
  })
  return () => {
    for (const socket of sockets.clients) socket.close(1001, 'the server stops')
    sockets.close()
  }
}

async function admit(
  { findKey }: SessionDoorParts,
  url: string | undefined,
  authorization: string | undefined,
): Promise<KnownKey | undefined> {
  const secret = /^Bearer ([\x21-\x7e]{8,512})$/.exec(authorization ?? '')?.[1]
  if (url !== sessionsPath || secret === undefined) return undefined
  // A store that does not answer admits nobody; the other end tries again.
  return findKey(hashSecret(secret)).catch(() => undefined)
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
