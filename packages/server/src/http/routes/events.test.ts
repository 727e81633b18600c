import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { memoryDoor, secret } from '../../../test/memory-door.ts'
import { waitUntil } from '../../testing/wait-until.ts'

describe('events to a reader that does not read', () => {
  const authorization = `Bearer ${secret}`
  const batches = 40
  let app: FastifyInstance
  let client: Socket

  beforeEach(async () => {
    app = memoryDoor()
    const headers = { authorization }
    await app.inject({ method: 'POST', url: '/v1/workspaces', headers, payload: { name: 'w' } })
    // Long paths make large events of small batches.
    const deep = `/${'n'.repeat(250)}`.repeat(15)
    const operations = Array.from({ length: 100 }, (_, i) => ({
      op: 'write',
      path: `${deep}/${i}`,
      text: 'x',
      parents: true,
    }))
    for (let i = 0; i < batches; i++) {
      const payload = { operations }
      await app.inject({ method: 'POST', url: '/v1/workspaces/w/batch', headers, payload })
    }
    await app.listen({ host: '127.0.0.1', port: 0 })
  }, 60_000)

  afterEach(async () => {
    client.destroy()
    await app.close()
  })

  it('wait in the log, not in memory, and all come once it reads', async () => {
    const connected = once(app.server, 'connection') as Promise<[Socket]>
    client = connect((app.server.address() as AddressInfo).port, '127.0.0.1').pause()
    const [served] = await connected
    client.write(
      `GET /v1/workspaces/w/events?after=0 HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`,
    )
    const seen: number[] = []
    await waitUntil('the server sends no more', () => {
      seen.push(served.writableLength)
      const last = seen.slice(-10)
      return last.length === 10 && served.writableLength > 0 && new Set(last).size === 1
    })
    expect(served.writableLength).toBeLessThan(4 << 20)
    let text = ''
    const ids = (): string[] => [...text.matchAll(/^id: (\d+)\nevent/gm)].map(([, id]) => id!)
    client.setEncoding('latin1').on('data', (chunk) => (text += chunk))
    client.resume()
    await waitUntil('all have come', () => ids().length === batches)
    expect(ids()).toEqual(ids().toSorted((a, b) => Number(a) - Number(b)))
  })
})
