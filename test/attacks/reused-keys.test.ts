// An Idempotency-Key stands for one request. Another request under it is refused, and never takes the first one's answer.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tarOf } from '@cairn/server/testing'
import { Site } from './site.ts'

interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: string | Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
}

const first: Sent = { method: 'PUT', path: 'files/src/new', body: 'one' }
const json = (value: object): string => JSON.stringify(value)

/** Each pair has the same key. */
const pairs: readonly (readonly [title: string, first: Sent, other: Sent])[] = [
  ['another path', first, { ...first, path: 'files/src/other' }],
  ['another body', first, { ...first, body: 'two' }],
  ['another query', first, { ...first, path: 'files/src/new?mode=600' }],
  ['another verb', first, { method: 'DELETE', path: 'files/src/new' }],
  ['a condition', first, { ...first, headers: { 'if-none-match': '*' } }],
  [
    'another range',
    {
      method: 'PATCH',
      path: 'files/src/a',
      body: 'x',
      headers: { 'content-range': 'bytes 0-0/*' },
    },
    {
      method: 'PATCH',
      path: 'files/src/a',
      body: 'x',
      headers: { 'content-range': 'bytes 1-1/*' },
    },
  ],
  [
    'another directory to make',
    { method: 'POST', path: 'files/src/d?mkdir', body: '{}' },
    { method: 'POST', path: 'files/src/e?mkdir', body: '{}' },
  ],
  [
    'another batch',
    { method: 'POST', path: 'batch', body: json({ operations: [{ op: 'mkdir', path: '/d' }] }) },
    { method: 'POST', path: 'batch', body: json({ operations: [{ op: 'mkdir', path: '/e' }] }) },
  ],
  [
    'another archive',
    { method: 'POST', path: 'files/in?import', body: tarOf([{ path: 'a', content: 'a' }]) },
    { method: 'POST', path: 'files/in?import', body: tarOf([{ path: 'b', content: 'b' }]) },
  ],
  [
    'an append of other bytes',
    { method: 'POST', path: 'files/src/a?append', body: 'x' },
    { method: 'POST', path: 'files/src/a?append', body: 'y' },
  ],
]

describe('a key that was used, with', () => {
  let site: Site
  beforeAll(async () => {
    site = await Site.open(['/src/a'], 60_000)
  })
  afterAll(() => site.close())

  const send = async (key: string, { method, path, body, headers }: Sent) => {
    const url = `${site.server.url}/v1/workspaces/w/${path}`
    const all = { ...site.ownerHeaders, ...headers, 'idempotency-key': key }
    const answer = await fetch(url, { method, headers: all, ...(body ? { body } : {}) })
    return { status: answer.status, text: await answer.text() }
  }

  it.each(pairs)('%s: refused, and nothing is changed', async (title, before, other) => {
    const key = title.replaceAll(' ', '-')
    const done = await send(key, before)
    expect(done.status, done.text).toBeLessThan(300)
    const log = await site.owner('GET', '/w/log')
    const refused = await send(key, other)
    expect(refused.status, refused.text).toBe(409)
    expect(JSON.parse(refused.text)).toMatchObject({ error: { code: 'idempotency_mismatch' } })
    expect(await site.owner('GET', '/w/log')).toBe(log)
    expect(await send(key, before)).toEqual(done)
  })

  it('the same request from another token: done, because keys belong to their caller', async () => {
    const rule = { path: '/src', operations: ['read', 'list', 'write'] }
    const put = async (secret: string, body: string) => {
      const headers = { authorization: `Bearer ${secret}`, 'idempotency-key': 'shared' }
      const url = `${site.server.url}/v1/workspaces/w/files/src/shared`
      return (await fetch(url, { method: 'PUT', headers, body })).status
    }
    expect(await put(await site.issue([rule]), 'one')).toBe(201)
    expect(await put(await site.issue([rule]), 'two')).toBe(200)
    expect(await site.read('/src/shared')).toBe('two')
  })
})
