import { once } from 'node:events'
import { request } from 'node:http'
import type { Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type RunningServer, secret, SharedStores, startServer } from '../sessions/fixture.ts'

describe('sockets that say nothing', () => {
  let server: RunningServer | undefined
  const places = { all: 9, owner: 3, token: 9, address: 9 }
  const start = async (helloMs: number): Promise<void> => {
    server = await startServer(new SharedStores(), 1000, 0, { helloMs, places })
  }
  const opened: Socket[] = []
  afterEach(async () => {
    for (const socket of opened.splice(0)) socket.destroy()
    await server?.close()
  })

  /** The socket of a session without a hello, or the status of a refusal. */
  async function knock(): Promise<Socket | number> {
    const sent = request(`${server!.url}/v1/sessions`, {
      headers: {
        authorization: `Bearer ${secret}`,
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': Buffer.alloc(16).toString('base64'),
      },
    }).end()
    const answered = once(sent, 'response').then(([answer]) => {
      const { statusCode } = answer as { statusCode: number }
      return statusCode
    })
    const upgraded = once(sent, 'upgrade').then(([, socket]) => {
      opened.push(socket as Socket)
      return socket as Socket
    })
    return Promise.race([answered, upgraded])
  }

  it('silent sockets of one owner leave room for others', async () => {
    await start(600_000)
    for (let count = 0; count < places.owner; count++) expect(typeof (await knock())).toBe('object')
    expect(await knock()).toBe(503)
  })

  it('sockets that say nothing are ended, and give their places back', async () => {
    await start(20)
    for (let count = 0; count <= places.owner; count++) {
      const socket = await knock()
      if (typeof socket === 'number') continue
      const closed = once(socket, 'close')
      socket.resume().on('end', () => socket.end())
      await closed
    }
    await expect.poll(async () => typeof (await knock()), { timeout: 30_000 }).toBe('object')
  })
})
