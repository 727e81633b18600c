// Bytes count against budget and quota while they arrive: what does not fit is refused before it is stored.
import { request } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { secret } from '../sessions/fixture.ts'
import { Site } from './site.ts'

const allow = [{ path: '/src', operations: ['read', 'list', 'write', 'delete'] }]
const large = 40 << 20

interface Sent {
  readonly status: number
  readonly text: string
  /** What the server took in before it answered. */
  readonly sentBytes: number
}

describe('a body larger than its room', () => {
  let site: Site
  let key: string

  beforeEach(async () => {
    site = await Site.open(['/src/a'], 60_000)
    key = await site.issue(allow, { maxBytes: 1000 })
  })
  afterEach(() => site.close())

  /** Sends until the server answers. With a length, the head alone first. */
  const send = (
    method: string,
    path: string,
    { headers = {}, bytes = large, as = key, hasLength = false } = {} as {
      headers?: Record<string, string>
      bytes?: number
      as?: string
      hasLength?: boolean
    },
  ): Promise<Sent> =>
    new Promise((resolve, reject) => {
      const length: Record<string, string> = hasLength ? { 'content-length': String(bytes) } : {}
      const out = request(`${site.server.url}/v1/workspaces/w${path}`, {
        method,
        headers: { authorization: `Bearer ${as}`, ...headers, ...length },
      })
      let sentBytes = 0
      let isAnswered = false
      out.on('response', (answer) => {
        isAnswered = true
        let text = ''
        answer.on('data', (piece: Buffer) => (text += piece.toString()))
        answer.on('end', () => {
          out.destroy()
          resolve({ status: answer.statusCode!, text, sentBytes })
        })
      })
      out.on('error', (error) => (isAnswered ? undefined : reject(error)))
      if (hasLength) return out.flushHeaders()
      const piece = Buffer.alloc(64 << 10, 'x')
      const pump = (): void => {
        while (!isAnswered && sentBytes < bytes) {
          const part = piece.subarray(0, bytes - sentBytes)
          sentBytes += part.length
          if (!out.write(part)) return void out.once('drain', pump)
        }
        if (!isAnswered) out.end()
      }
      pump()
    })

  const patch = { 'content-range': `bytes 0-${large - 1}/*` }
  const doors: Record<string, [method: string, path: string, headers: Record<string, string>]> = {
    PUT: ['PUT', '/files/src/new', {}],
    'PUT over a file': ['PUT', '/files/src/a', {}],
    append: ['POST', '/files/src/a?append', {}],
    PATCH: ['PATCH', '/files/src/a', patch],
  }

  it.each(Object.entries(doors))(
    '%s: refused while it streams',
    async (_, [method, path, headers]) => {
      const { status, text, sentBytes } = await send(method, path, { headers })
      expect([status, text]).toEqual([507, expect.stringContaining('the token may add 1000 more')])
      expect(sentBytes).toBeLessThan(large)
    },
  )

  it.each(Object.entries(doors))(
    '%s: refused for its Content-Length alone',
    async (_, [method, path, headers]) => {
      const { status } = await send(method, path, { headers, hasLength: true })
      expect(status).toBe(507)
    },
  )

  it('a quota refuses the owner, too, and what is there stays', async () => {
    await site.owner('PATCH', '/w', { maxBytes: 1000 })
    for (const hasLength of [true, false]) {
      const sent = await send('PUT', '/files/src/a', { as: secret, hasLength })
      expect([sent.status, sent.text]).toEqual([507, expect.stringContaining('its quota is 1000')])
    }
    expect(await site.read('/src/a')).toBe('in /src/a')
  })

  it('what a file has is room for what replaces it', async () => {
    await site.owner('PATCH', '/w', { maxBytes: 300_000 })
    const put = (bytes: number): Promise<Sent> =>
      send('PUT', '/files/src/a', { as: secret, bytes, hasLength: false })
    expect((await put(280_000)).status).toBe(200)
    expect((await put(290_000)).status).toBe(200)
    expect((await put(310_000)).status).toBe(507)
  })

  it('in an upload by blocks, the block beyond the limit is refused and not kept', async () => {
    const budget = await site.issue(allow, { maxBytes: 600_000 })
    const call = async (method: string, path: string, body?: Uint8Array<ArrayBuffer>) => {
      const headers = { authorization: `Bearer ${budget}` }
      const url = `${site.server.url}/v1/workspaces/w/uploads${path}`
      return fetch(url, { method, headers, ...(body ? { body } : {}) })
    }
    const { id } = (await (await call('POST', '')).json()) as { id: string }
    const block = (number: number, more = ''): Promise<Response> =>
      call('PUT', `/${id}/blocks/${number}${more}`, new Uint8Array(256 << 10).fill(number + 1))
    expect([(await block(0)).status, (await block(1)).status]).toEqual([204, 204])
    expect((await block(2)).status).toBe(507)
    // Sent again it takes no more room than before.
    expect((await block(1)).status).toBe(204)
    expect(await (await call('GET', `/${id}`)).json()).toMatchObject({ blocks: [0, 1] })
    // What it replaces is room.
    await site.owner('PUT', '/w/files/src/a', 'y'.repeat(300_000))
    expect((await block(2, '?path=/src/a')).status).toBe(204)
  })

  it('two that arrive at once share the room: the first has it', async () => {
    await site.owner('PATCH', '/w', { maxBytes: 100_000 })
    const open = (name: string) => {
      const out = request(`${site.server.url}/v1/workspaces/w/files/src/${name}`, {
        method: 'PUT',
        headers: { ...site.ownerHeaders, 'content-length': '80000' },
      })
      const answer = new Promise<number>((resolve) =>
        out.on('response', (response) => resolve(response.resume().statusCode!)),
      )
      out.write('x')
      return { out, answer }
    }
    const first = open('first')
    await expect.poll(() => site.arrivingBytes()).toBe(80_000)
    const second = open('second')
    expect(await second.answer).toBe(507)
    second.out.on('error', () => undefined).destroy()
    first.out.end('x'.repeat(79_999))
    expect(await first.answer).toBe(201)
    expect(await site.arrivingBytes()).toBe(0)
  })

  it('a repeated append gets its first answer, although its room is used by then', async () => {
    const append = (): Promise<Sent> =>
      send('POST', '/files/src/a?append', { bytes: 900, headers: { 'idempotency-key': 'once' } })
    const [first, again] = [await append(), await append()]
    expect([first.status, again.status]).toEqual([200, 200])
    expect(JSON.parse(again.text)).toMatchObject({
      seq: (JSON.parse(first.text) as { seq: number }).seq,
    })
  })
})
