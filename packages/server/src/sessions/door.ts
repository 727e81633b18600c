import type { Server } from 'node:http'
import {
  type ActorId,
  CairnError,
  decodeRequest,
  encodeReply,
  messageBytesMax,
  type SessionReply,
} from '@cairn/protocol'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { type FindKey, hashSecret, type KnownKey } from '../http/authenticate.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'
import type { Connection } from './connection.ts'
import { failureOf, Session } from './session.ts'

export interface SessionDoorParts {
  readonly workspaces: Workspaces
  readonly findKey: FindKey
  readonly leaseMs: number
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
  const connection = connectionOf(socket)
  let session: Promise<Session> | undefined
  const fail = (error: unknown): void => {
    connection.send({ type: 'goodbye', ...failureOf(error) })
    connection.close()
  }
  socket.on('message', (data) => {
    const handled = session
      ? session.then((open) => open.handle(decodeRequest(bytesOf(data))))
      : (session = openSession(connection, parts, key, bytesOf(data)))
    handled.catch(fail)
  })
  // Without a goodbye its place is kept for the lease time: it may only have lost the network.
  socket.on('close', () => void session?.then((open) => open.close(false)).catch(() => undefined))
  socket.on('error', () => socket.terminate())
}

async function openSession(
  connection: Connection,
  { workspaces, leaseMs }: SessionDoorParts,
  key: KnownKey,
  bytes: Uint8Array,
): Promise<Session> {
  const hello = decodeRequest(bytes)
  if (hello.type !== 'hello')
    throw new CairnError('malformed', { message: 'cannot begin: want hello first' })
  const workspace = await workspaces.open(key.owner, hello.workspace)
  const branch = await workspace.branch(hello.branch)
  const keeper = workspace.lease(branch)
  return Session.open(
    { workspace, branch, keeper, actor: key.id as ActorId, leaseMs },
    connection,
    hello,
  )
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
