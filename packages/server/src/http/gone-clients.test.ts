import { once } from 'node:events'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { watchForGoneClients } from './gone-clients.ts'

describe('a client that goes before its answer', () => {
  let app: FastifyInstance
  afterEach(() => app.close())

  it('a client that has gone aborts its request', async () => {
    const began = Promise.withResolvers<AbortSignal>()
    const noticed = Promise.withResolvers<void>()
    app = Fastify({ forceCloseConnections: true })
    watchForGoneClients(app)
    app.get('/', async ({ gone }) => {
      began.resolve(gone)
      if (!gone.aborted) await once(gone, 'abort')
      noticed.resolve()
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    const asked = request({ port: (app.server.address() as AddressInfo).port }).end()
    asked.on('error', () => {})
    expect((await began.promise).aborted).toBe(false)
    asked.destroy()
    await noticed.promise
  })
})
