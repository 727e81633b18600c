import type { AddressInfo } from 'node:net'
import type { RadarEvent } from '@cairn/protocol'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { memoryDoor, secret } from '../testing/memory-door.ts'

describe('radar over HTTP', () => {
  const headers = { authorization: `Bearer ${secret}` }
  let app: FastifyInstance
  let stop: AbortController

  const call = async (method: 'POST' | 'PUT', path: string, payload: object | string) => {
    const answer = await app.inject({ method, url: `/v1/workspaces${path}`, headers, payload })
    expect(answer.statusCode, answer.body).toBeLessThan(300)
  }
  const write = (path: string, text: string, layer?: string) =>
    call('PUT', `/w/files${path}${layer === undefined ? '' : `?layer=${layer}`}`, text)

  beforeEach(async () => {
    app = memoryDoor()
    stop = new AbortController()
    await call('POST', '', { name: 'w' })
    await write('/repo/a.txt', 'one\n')
    await write('/repo/b.txt', 'bee\n')
    for (const name of ['a', 'b']) await call('POST', '/w/layers', { path: '/repo', name })
    await app.listen({ host: '127.0.0.1', port: 0 })
  })

  afterEach(async () => {
    stop.abort()
    await app.close()
  })

  /** The data of each event of that name, as they come. */
  async function* follow(query: string, name: string): AsyncGenerator<string> {
    const { port } = app.server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}/v1/workspaces/w/events?${query}`
    const { body, status } = await fetch(url, { headers, signal: stop.signal })
    expect(status).toBe(200)
    let text = ''
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      const events = text.split('\n\n')
      text = events.pop()!
      for (const event of events)
        if (event.includes(`event: ${name}\n`)) yield /^data: (.*)$/m.exec(event)![1]!
    }
  }

  const next = async (events: AsyncGenerator<string>): Promise<RadarEvent> =>
    JSON.parse((await events.next()).value as string) as RadarEvent

  it('what the base has changed too comes as an event, each path once', async () => {
    await write('/repo/a.txt', 'mine\n', 'a')
    await write('/repo/b.txt', 'mine\n', 'a')
    const events = follow('layer=a&radar', 'radar')
    const first = next(events)
    await write('/elsewhere.txt', 'x')
    await write('/repo/a.txt', 'theirs\n')
    expect(await first).toMatchObject({
      overlaps: [{ path: '/repo/a.txt', with: 'main', kind: 'modified' }],
      more: 0,
    })
    const second = next(events)
    await write('/repo/b.txt', 'theirs\n')
    expect((await second).overlaps.map(({ path }) => path)).toEqual(['/repo/b.txt'])
  })

  it('of a sibling with its write, and with its commit of the base', async () => {
    await write('/repo/a.txt', 'mine\n', 'a')
    const events = follow('layer=a&radar', 'radar')
    const first = next(events)
    await write('/repo/a.txt', 'sibling\n', 'b')
    expect((await first).overlaps).toMatchObject([{ path: '/repo/a.txt', name: 'b' }])
    const second = next(events)
    await call('POST', '/w/layers/b/commit', {})
    expect((await second).overlaps).toMatchObject([{ path: '/repo/a.txt', with: 'main' }])
  })

  it('is asked of a layer only', async () => {
    const url = '/v1/workspaces/w/events?radar'
    const { statusCode } = await app.inject({ method: 'GET', url, headers })
    expect(statusCode).toBe(400)
  })
})
