// A session belongs to one token, and ends with it.
import { narrowToken } from '@cairn/sdk'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RawSession } from './raw-session.ts'
import { Site } from './site.ts'

const allow = [{ path: '/src', operations: ['read', 'list', 'write', 'delete'] }]
const file = '/v1/workspaces/w/files/src/large'

describe('the exact token', () => {
  let site: Site

  beforeEach(async () => {
    site = await Site.open(['/src/a'], 60_000)
  })
  afterEach(() => site.close())

  const resume = (key: string, session: string): Promise<string> =>
    RawSession.open(site.server, key, { session }).then(
      (open) => (open.close(), 'welcome'),
      (error: Error) => error.message,
    )
  const readers = (path: string): Parameters<typeof narrowToken>[1] => ({
    allow: [{ path, operations: ['read', 'list', 'write'] }],
  })

  it('a narrowed token does not go on with a session of the one it was made from, or of a sibling', async () => {
    const parent = await site.issue(allow)
    const [child, sibling] = [
      await narrowToken(parent, readers('/src/a')),
      await narrowToken(parent, readers('/src/b')),
    ]
    const [ofParent, ofSibling] = [await site.session(parent), await site.session(sibling)]
    expect(await resume(child, ofParent.id)).toMatch(/forbidden/)
    expect(await resume(child, ofSibling.id)).toMatch(/forbidden/)
    const grandchild = await narrowToken(child, readers('/src/a'))
    expect(await resume(grandchild, (await site.session(child)).id)).toMatch(/forbidden/)
  })

  it('a token goes on with its own sessions after it was refreshed, and with those of tokens made from it', async () => {
    const { id, secret } = await site.issueToken(allow)
    const child = await narrowToken(secret, readers('/src/a'))
    const [own, ofChild] = [await site.session(secret), await site.session(child)]
    await site.owner('POST', `/w/tokens/${id}/refresh`, { ttlMs: 60_000 })
    expect(await resume(secret, own.id)).toBe('welcome')
    expect(await resume(await narrowToken(secret, readers('/src/a')), ofChild.id)).toBe('welcome')
    // A process that takes over what a killed sandbox left has the token that the sandbox's own was
    // made from.
    expect(await resume(secret, ofChild.id)).toBe('welcome')
  })

  const get = (key: string): Promise<Response> =>
    fetch(site.server.url + file, { headers: { authorization: `Bearer ${key}` } })

  it('a download ends when its token is revoked', async () => {
    await site.owner('PUT', '/w/files/src/large', 'x'.repeat(64 << 20))
    const { id, secret } = await site.issueToken(allow)
    const reader = (await get(secret)).body!.getReader()
    await reader.read()
    await site.owner('DELETE', `/w/tokens/${id}`)
    // What is on its way may still arrive; the end of the file does not.
    const readAll = async (): Promise<void> => {
      while (!(await reader.read()).done);
    }
    await site.untilEnded(secret)
    await expect(readAll()).rejects.toThrow()
  })

  it('an upload ends when its token is revoked: nothing of it is written', async () => {
    const { id, secret } = await site.issueToken(allow)
    let more: ReadableStreamDefaultController<Uint8Array>
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (more = controller) })
    const init = {
      method: 'PUT',
      body,
      duplex: 'half',
      headers: { authorization: `Bearer ${secret}` },
    }
    const put = fetch(site.server.url + file, init as RequestInit)
    const ended = expect(put).rejects.toThrow()
    more!.enqueue(new Uint8Array(1000))
    await site.owner('DELETE', `/w/tokens/${id}`)
    await ended
    const stat = fetch(`${site.server.url}${file}?stat`, { headers: site.ownerHeaders })
    expect((await stat).status).toBe(404)
  })
})
