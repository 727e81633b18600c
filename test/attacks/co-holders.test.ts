// Several sessions may acknowledge in one epoch. The number of an epoch is no secret, and no right to write in it.
import { encodeInos, type Ino, type Name, rootIno } from '@cairn/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFile, now, secret, until } from '../sessions/fixture.ts'
import type { RawSession } from './raw-session.ts'
import { Site } from './site.ts'

const everything = [{ path: '/', operations: ['read', 'list', 'write'] }]

let site: Site
beforeEach(async () => {
  site = await Site.open(['/src/a', '/drop/b'], 60_000)
})
afterEach(() => site.close())

const unlink = (parent: Ino, name: string) =>
  ({ type: 'unlink', time: now(), parent, name: name as Name }) as const

it('a session without a part in the lease: what it submits in its epoch is not taken', async () => {
  const holder = await site.session(secret)
  const epoch = await holder.leaseEpoch()
  const key = await site.issue([{ path: '/drop', operations: ['read', 'list', 'write'] }])
  const other = await site.session(key)
  const drop = await site.ino('/drop')
  const ino = await other.inodes(1)
  // The holder has acknowledged a file of that name.
  expect(await other.submit(epoch, createFile('x', ino, drop))).toBe('stale_epoch')
  expect(await holder.submit(epoch, createFile('x', await holder.inodes(1), drop))).toBe('done')
})

describe('a session that holds beside another one', () => {
  let first: RawSession
  let second: RawSession
  let epoch: number

  /** Three changes beside the holder make it one. */
  const beside = async (key: string): Promise<void> => {
    first = await site.session(secret, { mode: 'share' })
    first.obeys = true
    epoch = await first.leaseEpoch()
    second = await site.session(key, { mode: 'share' })
    second.obeys = true
    const drop = await site.ino('/drop')
    const ino = await second.inodes(3)
    for (const at of [0, 1, 2])
      expect(await second.submit(epoch, createFile(`n${at}`, ino + at, drop))).toBe('done')
    await second.hears('among')
  }

  it('by a token: deletes no file without a name that another one has open', async () => {
    await beside(await site.issue(everything))
    const [src, a] = [await site.ino('/src'), await site.ino('/src/a')]
    first.send({ type: 'hold', inos: encodeInos([a]) })
    expect(await first.submit(epoch, unlink(src, 'a'))).toBe('done')
    expect(await second.submit(epoch, { type: 'reap', ino: a })).toBe('forbidden')
    expect(await first.tries({ type: 'content', ino: a, offset: 0, length: 9 })).toBe('done')
  })

  it('a session that holds beside another one and writes where it claimed nothing: the holder is asked first', async () => {
    await beside(secret)
    const src = await site.ino('/src')
    expect(await second.submit(epoch, createFile('x', await second.inodes(1), src))).toBe('done')
    await first.hears('yield', ({ inos }) => inos.includes(src))
  })

  it('a session that holds beside another one and gives nothing back: others write all the same, and its epoch is over', async () => {
    await site.close()
    site = await Site.open(['/src/a', '/drop/b'], 300)
    await beside(secret)
    second.obeys = false
    const timer = setInterval(() => {
      for (const session of [first, second]) session.send({ type: 'renew' })
    }, 50)
    try {
      const drop = await site.ino('/drop')
      await second.ask({ type: 'claim', inos: [drop] })
      const written = site.owner('PUT', '/w/files/drop/c', 'c')
      await first.hears('recall')
      first.send({ type: 'released', epoch })
      await written
      const late = createFile('late', await second.inodes(1), drop)
      expect(await second.submit(epoch, late)).toBe('stale_epoch')
    } finally {
      clearInterval(timer)
    }
  })

  it('a session that holds beside another one and has handed in: it writes in that epoch like any other session', async () => {
    await beside(secret)
    second.send({ type: 'released', epoch })
    const src = await site.ino('/src')
    await first.ask({ type: 'claim', inos: [src] })
    const asked = first.heard.length
    expect(await second.submit(epoch, createFile('x', await second.inodes(1), src))).toBe('done')
    expect(first.heard.slice(asked).map(({ type }) => type)).toContain('yield')
  })

  it('by a token that sees a part: never', async () => {
    const key = await site.issue([{ path: '/drop', operations: ['read', 'list', 'write'] }])
    const holder = await site.session(secret, { mode: 'share' })
    holder.obeys = true
    const held = await holder.leaseEpoch()
    const other = await site.session(key, { mode: 'share' })
    const drop = await site.ino('/drop')
    const ino = await other.inodes(9)
    for (let at = 0; at < 9; at++) {
      const submitted = await other.submit(held, createFile(`${ino}-${at}`, ino + at, drop))
      expect(submitted).toBe('done')
    }
    expect(other.heard.map(({ type }) => type)).not.toContain('among')
  })

  it('claims no directory in which its token may change nothing', async () => {
    const readAll = { path: '/', operations: ['read', 'list'] }
    await beside(await site.issue([readAll, { path: '/drop', operations: ['write'] }]))
    const claim = async (ino: Ino): Promise<number | undefined> =>
      [...(await second.ask({ type: 'claim', inos: [ino] }))][0]
    expect(await claim(await site.ino('/src'))).toBe(0)
    await until(async () => (await claim(await site.ino('/drop'))) === 1)
  })

  it('claims no directory that its token does not show, and hears of none', async () => {
    const key = await site.issue([{ path: '/drop', operations: ['read', 'list', 'write'] }])
    const narrow = await site.session(key, { mode: 'share' })
    narrow.obeys = true
    await narrow.leaseEpoch()
    const other = await site.session(secret, { mode: 'share' })
    other.obeys = true
    const [src, drop] = [await site.ino('/src'), await site.ino('/drop')]
    expect([...(await narrow.ask({ type: 'claim', inos: [src] }))][0]).toBe(0)
    await other.ask({ type: 'look', inos: [src, drop, rootIno] })
    const heard = narrow.heard.flatMap((reply) => (reply.type === 'yield' ? reply.inos : []))
    expect(heard).toContain(drop)
    expect(heard).not.toContain(src)
  })
})
