// What an upload stored that came to nothing: it must not fill the disk until a collector comes by, a day later.
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { serve, type Serving } from '@cairn/server'
import { makeTemporaryDirectory, removeDirectory, waitUntil } from '@cairn/server/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Witness } from './witness.ts'

const listen = '127.0.0.1:0'
const block = 256 << 10
type Body = NonNullable<RequestInit['body']>
type PutInit = Omit<RequestInit, 'headers'> & { readonly headers?: Record<string, string> }

function countObjects(data: string): number {
  const objects = join(data, 'objects', 'packs')
  if (!existsSync(objects)) return 0
  const entries = readdirSync(objects, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).length
}

describe('an upload that comes to nothing', () => {
  let data: string
  let server: Serving
  beforeAll(async () => {
    data = await makeTemporaryDirectory()
    server = await serve({ data, listen })
    await Witness.of(server)
  })
  afterAll(async () => {
    await server?.close()
    await removeDirectory(data)
  })

  const put = (name: string, body: Body, { headers, ...init }: PutInit = {}): Promise<Response> =>
    fetch(`${server.url}/v1/workspaces/w/files/${name}`, {
      method: 'PUT',
      body,
      ...init,
      headers: { authorization: `Bearer ${server.ownerKey!}`, ...headers },
    })

  it('a client that goes away leaves no objects', async () => {
    const ending = new AbortController()
    async function* body(): AsyncGenerator<Uint8Array> {
      yield randomBytes(3 * block)
      await waitUntil('some are stored', () => countObjects(data) > 0)
      ending.abort()
      yield randomBytes(block)
    }
    const stream = ReadableStream.from(body()) as Body
    const init = { duplex: 'half', signal: ending.signal } as PutInit
    await expect(put('cut', stream, init)).rejects.toThrow(/abort/)
    await waitUntil('all are gone', () => countObjects(data) === 0)
  })

  it('a refused request leaves no objects', async () => {
    const refused = await put('absent', randomBytes(2 * block), { headers: { 'if-match': '"x"' } })
    expect(refused.status).toBe(412)
    expect(countObjects(data)).toBe(0)
  })

  it('content that another request also stored stays complete', async () => {
    const bytes = randomBytes(2 * block)
    expect((await put('file', bytes)).status).toBe(201)
    const refused = await put('other', bytes, { headers: { 'if-match': '"x"' } })
    expect(refused.status).toBe(412)
    const all = await Promise.all(
      Array.from({ length: 12 }, (_, i) => {
        const body = Buffer.concat([bytes, randomBytes(block)])
        return put(`race-${i}`, body, i % 2 === 0 ? {} : { headers: { 'if-match': '"x"' } })
      }),
    )
    expect(all.map(({ status }) => status)).toEqual(
      Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? 201 : 412)),
    )
    const headers = { authorization: `Bearer ${server.ownerKey!}` }
    for (const name of ['file', 'race-0', 'race-10']) {
      const answer = await fetch(`${server.url}/v1/workspaces/w/files/${name}`, { headers })
      const got = Buffer.from(await answer.arrayBuffer())
      expect(Buffer.compare(got.subarray(0, 2 * block), bytes)).toBe(0)
    }
  })
})
