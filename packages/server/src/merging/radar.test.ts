import type { AddressInfo } from 'node:net'
import type { IssuedToken, LayerOverlap, LayerStatus, RadarEvent } from '@cairn/protocol'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { memoryDoor, secret } from '../../test/memory-door.ts'

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
  async function* follow(query: string, name: string, key = secret): AsyncGenerator<string> {
    const { port } = app.server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}/v1/workspaces/w/events?${query}`
    const as = { authorization: `Bearer ${key}` }
    const { body, status } = await fetch(url, { headers: as, signal: stop.signal })
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

  it("a sibling's write is reported, and its commit of the base", async () => {
    await write('/repo/a.txt', 'mine\n', 'a')
    const events = follow('layer=a&radar', 'radar')
    const first = next(events)
    await write('/repo/a.txt', 'sibling\n', 'b')
    expect((await first).overlaps).toMatchObject([{ path: '/repo/a.txt', name: 'b' }])
    const second = next(events)
    await call('POST', '/w/layers/b/commit', {})
    expect((await second).overlaps).toMatchObject([{ path: '/repo/a.txt', with: 'main' }])
  })

  describe('for a token', () => {
    const issue = async (allow: readonly string[], more: object = {}): Promise<string> => {
      const operations = ['read', 'list', 'write']
      const rules = allow.map((path) => ({ path, operations }))
      const payload = { name: 't', ttlMs: 60_000, allow: rules, ...more }
      const url = '/v1/workspaces/w/tokens'
      const answer = await app.inject({ method: 'POST', url, headers, payload })
      return answer.json<IssuedToken>().secret
    }
    const statusFor = async (key: string): Promise<readonly LayerOverlap[]> => {
      const as = { authorization: `Bearer ${key}` }
      const url = '/v1/workspaces/w/layers/a'
      const answer = await app.inject({ method: 'GET', url, headers: as })
      expect(answer.statusCode, answer.body).toBe(200)
      return answer.json<LayerStatus>().overlaps
    }

    it('a token that is bound to its layer is warned of siblings without their names', async () => {
      const key = await issue(['/repo'], { layer: 'a' })
      await write('/repo/a.txt', 'mine\n', 'a')
      await write('/repo/b.txt', 'mine\n', 'a')
      const events = follow('radar', 'radar', key)
      const first = next(events)
      await write('/repo/a.txt', 'sibling\n', 'b')
      const anonymous = { path: '/repo/a.txt', kind: 'modified' }
      expect((await first).overlaps).toEqual([anonymous])
      const second = next(events)
      await write('/repo/b.txt', 'main\n')
      const parent = { path: '/repo/b.txt', with: 'main', kind: 'modified' }
      expect((await second).overlaps).toEqual([parent])
      expect(await statusFor(key)).toEqual([parent, anonymous])
    })

    it('a token hears only of what it may read', async () => {
      await write('/repo/src/x.txt', 'x')
      await write('/repo/keys/k.txt', 'k')
      await call('POST', '/w/layers/a/rebase', {})
      const hides = await issue(['/repo'], { layer: 'a', deny: ['/repo/keys'] })
      const part = await issue(['/repo/src'], { layer: 'a' })
      const warnings = [hides, part].map((key) => next(follow('radar', 'radar', key)))
      for (const layer of ['a', undefined]) {
        await write('/repo/keys/k.txt', `${layer}`, layer)
        await write('/repo/src/x.txt', `${layer}`, layer)
      }
      for (const warning of warnings)
        expect((await warning).overlaps.map(({ path }) => path)).toEqual(['/repo/src/x.txt'])
    })

    it('what was moved from under all that it may read is gone for it', async () => {
      await write('/repo/src/x.txt', 'x')
      await call('POST', '/w/layers/a/rebase', {})
      const key = await issue(['/repo/src'], { layer: 'a' })
      await write('/repo/src/x.txt', 'mine', 'a')
      const warning = next(follow('radar', 'radar', key))
      await call('POST', '/w/files/repo?move', { to: '/elsewhere' })
      expect((await warning).overlaps).toEqual([
        { path: '/repo/src', with: 'main', kind: 'deleted' },
      ])
    })

    it('a token that is bound to nothing gets the names of siblings that it sees', async () => {
      const key = await issue(['/repo'])
      await write('/repo/a.txt', 'mine\n', 'a')
      await write('/repo/a.txt', 'sibling\n', 'b')
      expect(await statusFor(key)).toMatchObject([{ path: '/repo/a.txt', name: 'b' }])
    })
  })

  it('radar is asked of a layer only', async () => {
    const url = '/v1/workspaces/w/events?radar'
    const { statusCode } = await app.inject({ method: 'GET', url, headers })
    expect(statusCode).toBe(400)
  })
})
