// Numbers and hashes are no rights: what a session was given and has stored is known to the server.
import type { Op } from '@cairn/core'
import { decodeBlobAnswer } from '@cairn/mount'
import type { Ino, Name } from '@cairn/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFile, now, secret, startServer, writeBytes } from '../sessions/fixture.ts'
import { RawSession } from './raw-session.ts'
import { Site } from './site.ts'

const allow = [{ path: '/src', operations: ['read', 'list', 'write', 'delete'] }]

describe('numbers and hashes', () => {
  let site: Site
  let key: string
  let parent: Ino

  beforeEach(async () => {
    site = await Site.open(['/src/a', '/hidden/h'], 60_000)
    key = await site.issue(allow)
    parent = await site.ino('/src')
  })
  afterEach(() => site.close())

  it('inode numbers that were not given to the token are refused; others go on creating', async () => {
    const session = await site.session(key)
    const [epoch, first] = [await session.leaseEpoch(), await session.inodes(10)]
    for (const ino of [first + 10, first + 5000, 1_000_000])
      expect(await session.submit(epoch, createFile('f', ino, parent)), `${ino}`).toBe('forbidden')
    expect(await session.submit(epoch, createFile('f', first + 9, parent))).toBe('done')
    session.send({ type: 'bye' })
    await site.owner('PUT', '/w/files/src/theirs', 'x')
  })

  it('numbers that were given are known after a reconnect, on another server', async () => {
    const before = await site.session(key)
    const [epoch, first] = [await before.leaseEpoch(), await before.inodes(10)]
    before.close()
    const other = await startServer(site.stores, 60_000)
    try {
      const after = await RawSession.open(other, key, { session: before.id })
      expect(await after.submit(epoch, createFile('f', first, parent))).toBe('done')
      expect(await after.submit(epoch, createFile('g', first + 10, parent))).toBe('forbidden')
      after.close()
    } finally {
      await other.close()
    }
  })

  it('content is written from its hash by the token that stored it, also after a reconnect', async () => {
    const bytes = new Uint8Array(200_000).fill(7)
    const owner = await site.session(secret)
    const { id, length } = decodeBlobAnswer(await owner.ask({ type: 'blob', bytes }))!
    owner.send({ type: 'bye' })
    const data = { type: 'blob', id, blobLength: length, start: 0, length } as const
    const write = { ...writeBytes(await site.ino('/src/a'), ''), data } as Op
    const session = await site.session(key)
    const epoch = await session.leaseEpoch()
    expect(await session.submit(epoch, writeBytes(await site.ino('/src/a'), 'x'))).toBe('done')
    session.close()
    // It has written before, and comes back with a hash that it was told of.
    const again = await site.session(key, { session: session.id })
    again.skipNumbers(1)
    expect(await again.submit(epoch, write)).toBe('malformed')
    await again.ask({ type: 'blob', bytes })
    again.close()
    const third = await site.session(key, { session: session.id })
    third.skipNumbers(2)
    expect(await third.submit(epoch, write)).toBe('done')
  })

  it('a file of others that has lost its name cannot be written or reaped by its number', async () => {
    const owner = await site.session(secret)
    const [epoch, first] = [await owner.leaseEpoch(), await owner.inodes(1)]
    const unlink: Op = { type: 'unlink', parent, name: 'open' as Name, time: now() }
    expect(await owner.submit(epoch, createFile('open', first, parent), unlink)).toBe('done')
    const session = await site.session(key)
    owner.send({ type: 'released', epoch })
    const shared = await session.hears('shared')
    expect(await session.submit(shared.epoch, writeBytes(first, 'x'))).toBe('ENOENT')
    const reap: Op = { type: 'reap', ino: first as Ino }
    expect(await session.submit(shared.epoch, reap)).toBe('forbidden')
    expect(await owner.submit(shared.epoch, writeBytes(first, 'mine'))).toBe('done')
  })

  it('its own file without a name can be written, also after a reconnect', async () => {
    const session = await site.session(key)
    const [epoch, first] = [await session.leaseEpoch(), await session.inodes(1)]
    const unlink: Op = { type: 'unlink', parent, name: 'open' as Name, time: now() }
    expect(await session.submit(epoch, createFile('open', first, parent), unlink)).toBe('done')
    session.close()
    const again = await site.session(key, { session: session.id })
    again.skipNumbers(1)
    expect(await again.submit(epoch, writeBytes(first, 'x'))).toBe('done')
    expect(await again.submit(epoch, { type: 'reap', ino: first as Ino })).toBe('done')
  })
})
