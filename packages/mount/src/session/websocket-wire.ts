import { decodeReply, encodeRequest, messageBytesMax } from '@cairn/protocol'
import { WebSocket } from 'ws'
import type { Connect, Wire } from './wire.ts'

/** Connects to a server's sessions over a WebSocket. */
export function connectWebSocket(server: string, key: string): Connect {
  const url = `${server.replace(/^http/, 'ws')}/v1/sessions`
  return (events) =>
    new Promise<Wire>((resolve, reject) => {
      const socket = new WebSocket(url, {
        headers: { authorization: `Bearer ${key}` },
        maxPayload: messageBytesMax,
        perMessageDeflate: false,
      })
      socket.on('message', (data: Buffer) => events.onReply(decodeReply(data)))
      socket.on('close', () => events.onClose())
      socket.once('error', reject)
      socket.once('open', () =>
        resolve({
          send: (request) => socket.send(encodeRequest(request)),
          close: () => socket.close(),
        }),
      )
    })
}
