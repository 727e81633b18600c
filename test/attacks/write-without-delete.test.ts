// A token that may write and not delete: names that were there before it stay there.
import type { Op } from '@cairn/core'
import type { Ino, Name } from '@cairn/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDirectory, createFile, now } from '../sessions/fixture.ts'
import type { RawSession } from './raw-session.ts'
import { Site } from './site.ts'

const allow = [{ path: '/src', operations: ['read', 'list', 'write'] }]

describe('write without delete', () => {
  let site: Site
  let session: RawSession
  let epoch: number
  let parent: Ino
  let first: number

  beforeEach(async () => {
    site = await Site.open(['/src/theirs', '/src/dir/inside'], 60_000)
    session = await site.session(await site.issue(allow))
    epoch = await session.leaseEpoch()
    parent = await site.ino('/src')
    first = await session.inodes(10)
  })
  afterEach(() => site.close())

  const submit = (...ops: Op[]): Promise<string> => session.submit(epoch, ...ops)
  const unlink = (name: string): Op => ({ type: 'unlink', parent, name: name as Name, time: now() })
  const rename = (name: string, newName: string, mode: 'replace' | 'exchange' = 'replace'): Op => ({
    type: 'rename',
    parent,
    name: name as Name,
    newParent: parent,
    newName: newName as Name,
    mode,
    time: now(),
  })

  it('what it created itself it may remove and rename', async () => {
    expect(await submit(createFile('own', first, parent))).toBe('done')
    expect(await submit(rename('own', 'other'))).toBe('done')
    expect(await submit(unlink('other'))).toBe('done')
    expect(await submit(createDirectory('d', first + 1, parent))).toBe('done')
    expect(await submit(createFile('f', first + 2, first + 1), rename('d', 'e'))).toBe('done')
  })

  it('a token with write alone may neither remove nor rename what others created', async () => {
    expect(await submit(unlink('theirs'))).toBe('forbidden')
    expect(await submit(rename('theirs', 'gone'))).toBe('forbidden')
    expect(await submit(rename('dir', 'gone'))).toBe('forbidden')
    expect(await submit(createFile('own', first, parent))).toBe('done')
    expect(await submit(rename('own', 'theirs', 'exchange'))).toBe('forbidden')
  })

  it('a token with write alone may replace what others created, and not remove it then: in one batch, later, or over HTTP', async () => {
    const make = createFile('own', first, parent)
    expect(await submit(make, rename('own', 'theirs'), unlink('theirs'))).toBe('forbidden')
    expect(await submit(make, rename('own', 'theirs'))).toBe('done')
    expect(await submit(unlink('theirs'))).toBe('forbidden')
    expect(await submit(rename('theirs', 'gone'))).toBe('forbidden')
    // Nor by replacing it once more.
    const again = createFile('again', first + 1, parent)
    expect(await submit(again, rename('again', 'theirs'))).toBe('done')
    expect(await submit(unlink('theirs'))).toBe('forbidden')
  })

  it('a directory of its own in which others created something stays', async () => {
    expect(await submit(createDirectory('d', first, parent))).toBe('done')
    session.send({ type: 'released', epoch })
    session.send({ type: 'bye' })
    await site.owner('PUT', '/w/files/src/d/theirs', 'x')
    const key = await site.issue(allow, { name: 'another' })
    const move = (path: string, body: object): Promise<Response> =>
      fetch(`${site.server.url}/v1/workspaces/w/files${path}?move`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify(body),
      })
    expect((await move('/src/d', { to: '/src/e' })).status).toBe(403)
  })

  it('over HTTP it is the same', async () => {
    session.send({ type: 'bye' })
    const key = await site.issue(allow, { name: 'http' })
    const ask = async (method: string, path: string, body?: string): Promise<number> => {
      const headers = { authorization: `Bearer ${key}` }
      const init = { method, headers, ...(body === undefined ? {} : { body }) }
      return (await fetch(`${site.server.url}/v1/workspaces/w/files/src/${path}`, init)).status
    }
    expect(await ask('PUT', 'mine', 'x')).toBe(201)
    expect(await ask('POST', 'mine?move', '{"to":"/src/moved"}')).toBe(200)
    expect(await ask('DELETE', 'theirs')).toBe(403)
    expect(await ask('POST', 'moved?move', '{"to":"/src/theirs"}')).toBe(200)
    expect(await ask('DELETE', 'theirs')).toBe(403)
    expect(await ask('PUT', 'second', 'x')).toBe(201)
    expect(await ask('DELETE', 'second')).toBe(200)
  })
})
