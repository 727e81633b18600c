import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { relayConnection } from './relay.ts'

const servers: Server[] = []
const pieces = 400
const pieceBytes = 1 << 16

/** Serves WebSockets with it; gives where. */
async function listen(
  serve: (socket: WebSocket, request: IncomingMessage) => unknown,
): Promise<string> {
  const server = createServer()
  new WebSocketServer({ server }).on('connection', serve)
  servers.push(server.listen(0, '127.0.0.1'))
  await once(server, 'listening')
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server that relays everything to another one. */
function relayTo(home: string): Promise<string> {
  return listen((socket, { socket: raw }) => {
    const peer = new WebSocket(home)
    peer.once('upgrade', ({ socket: peerRaw }) => {
      peer.once('open', () => {
        const relayed = relayConnection({ socket, raw }, { socket: peer, raw: peerRaw }, 1000)
        socket.on('message', (data) => void relayed.onMessage(data as Buffer))
        socket.on('close', () => relayed.onClose())
        socket.send('ready')
      })
    })
  })
}

async function connect(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url)
  await once(socket, 'message')
  return socket
}

describe('a relayed connection', () => {
  afterEach(() => {
    for (const server of servers.splice(0)) server.close().closeAllConnections()
  })

  it('gives each message on, whole and in order, in both directions', async () => {
    const client = await connect(await relayTo(await listen((home) => echo(home))))
    const sent = Array.from({ length: 200 }, (_, n) => Buffer.alloc(n * 50, n))
    const received: Buffer[] = []
    const all = new Promise<void>((resolve) =>
      client.on('message', (data: Buffer) => received.push(data) === sent.length && resolve()),
    )
    for (const message of sent) client.send(message)
    await all
    expect(received).toEqual(sent)
  })

  it('reads no more from a home whose client does not read', async () => {
    let home!: WebSocket
    let arrived = 0
    const relay = await relayTo(await listen((socket) => (home = socket)))
    const client = await connect(relay)
    client.on('message', () => arrived++)
    client.pause()
    let sent = 0
    for (let n = 0; n < pieces; n++) home.send(Buffer.alloc(pieceBytes), () => sent++)
    await expect.poll(() => sent > 0).toBe(true)
    let before = -1
    // Until nothing moves any more.
    await expect
      .poll(
        () => {
          const [isStill] = [before === sent]
          before = sent
          return isStill
        },
        { interval: 200 },
      )
      .toBe(true)
    expect(home.bufferedAmount).toBeGreaterThan(pieceBytes)
    client.resume()
    await expect.poll(() => arrived).toBe(pieces)
  })

  it('ends at both ends, whichever ends it', async () => {
    const homes: WebSocket[] = []
    const relay = await relayTo(await listen((socket) => void homes.push(socket)))
    const [first, second, third] = [
      await connect(relay),
      await connect(relay),
      await connect(relay),
    ]
    first.close()
    await once(homes[0]!, 'close')
    homes[1]!.close(1001)
    expect((await once(second, 'close'))[0]).toBe(1001)
    homes[2]!.terminate()
    expect((await once(third, 'close'))[0]).toBe(1006)
  })
})

function echo(socket: WebSocket): void {
  socket.on('message', (data) => socket.send(data))
}
