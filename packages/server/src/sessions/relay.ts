import type { Socket } from 'node:net'
import type { RawData, WebSocket } from 'ws'
import type { Peer } from '../peers/peers.ts'
import { corkForTurn } from './cork.ts'
import { keepAlive } from './heartbeat.ts'
import type { ServedConnection } from './serve-connection.ts'

/** What a client may leave unread before its server is no longer read from: that server has bounds of its own. */
const unreadBytesMax = 1 << 20

/** A client's connection. */
export interface RelayedSocket {
  readonly socket: WebSocket
  readonly raw: Socket
}

/**
 * Carries a client's connection on to another server, message by message and unread. For that server it is a client like any other.
 * The end of one connection is the end of the other: to the client it is as if its server had gone, and it comes back.
 */
export function relayConnection(
  client: RelayedSocket,
  peer: Peer,
  heartbeatMs: number,
): Pick<ServedConnection, 'onMessage' | 'onClose'> {
  keepAlive(peer.socket, peer.raw, heartbeatMs)
  peer.socket.on('message', (data) => {
    void send(client, data).then(() => {
      if (client.socket.bufferedAmount <= unreadBytesMax / 2) peer.socket.resume()
    })
    if (client.socket.bufferedAmount > unreadBytesMax) peer.socket.pause()
  })
  peer.socket.on('error', () => peer.socket.terminate())
  peer.socket.on('close', (code, reason) => {
    if (code === 1000 || code === 1001) client.socket.close(code, reason)
    else client.socket.terminate()
  })
  return {
    // Resolves when it is on its way: until then it counts as not dealt with, and too much of that pauses the client.
    onMessage: (bytes) => send(peer, bytes),
    onClose: () => peer.socket.close(),
  }
}

/** Also resolves when the connection is over. */
function send({ socket, raw }: RelayedSocket, data: RawData | Uint8Array): Promise<void> {
  corkForTurn(raw)
  return new Promise((sent) => socket.send(data, () => sent()))
}
