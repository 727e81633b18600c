import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import Fastify, { type LightMyRequestResponse } from 'fastify'
import { describe, expect, it } from 'vitest'
import type { Access } from '../access/access.ts'
import { toHttpError } from './errors.ts'
import { limitConnections, limitRequests } from './limits.ts'

describe('requests under way', () => {
  it('above the limit of an owner are refused until others have ended', async () => {
    const app = Fastify()
    const end = Promise.withResolvers<void>()
    app.setErrorHandler((error, { id }, reply) => {
      const { status, body } = toHttpError(error, id)
      return reply.code(status).send(body)
    })
    app.decorateRequest('access', undefined)
    app.addHook('onRequest', async (request) => {
      request.access = { owner: request.headers['x-owner'], actor: 'key_1' } as Access
    })
    limitRequests(app, { all: 9, owner: 2, token: 9, address: 9 })
    app.get('/', async () => 'done')
    app.get('/long', async () => end.promise)
    const get = async (url: string, owner: string): Promise<LightMyRequestResponse> =>
      app.inject({ url, headers: { 'x-owner': owner } })
    await app.ready()
    const long = [get('/long', 'a'), get('/long', 'a')]
    await expect.poll(async () => (await get('/', 'a')).statusCode).toBe(429)
    const refused = await get('/', 'a')
    expect(refused.headers['retry-after']).toBe('1')
    expect(refused.json()).toMatchObject({
      error: { code: 'too_many_requests', message: expect.stringContaining('its owner has 2') },
    })
    expect((await get('/', 'b')).statusCode).toBe(200)
    end.resolve()
    await Promise.all(long)
    expect((await get('/', 'a')).statusCode).toBe(200)
  })
})

describe('open connections', () => {
  it('above the limit of an address are closed, and free their place when they end', async () => {
    const server = createServer((_request, response) => response.end('done'))
    limitConnections(server, { all: 9, address: 1 })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const first = connect(port, '127.0.0.1')
    await Promise.all([once(first, 'connect'), once(server, 'connection')])
    const second = connect(port, '127.0.0.1').on('error', () => {})
    await once(second, 'close')
    first.destroy()
    const ask = (): Promise<number | undefined> =>
      fetch(`http://127.0.0.1:${port}`, { headers: { connection: 'close' } }).then(
        ({ status }) => status,
        () => undefined,
      )
    await expect.poll(ask).toBe(200)
    await new Promise((resolve) => server.close(resolve))
  })
})
