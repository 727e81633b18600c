// What the server stores for a session as long as it lives: locks, and files without a name.
import { decodeInos, encodeInos, type Ino, type Name } from '@cairn/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { now, secret, until } from '../sessions/fixture.ts'
import { Site } from './site.ts'

const leaseMs = 300

let site: Site
beforeEach(async () => {
  site = await Site.open(['/src/a', '/hidden/b'], leaseMs)
})
afterEach(() => site.close())

it('a lock whose owner is a megabyte of text: refused', async () => {
  const session = await site.session(secret)
  const lock = { type: 'lock', ino: await site.ino('/src/a'), kind: 'posix', start: 0 } as const
  const more = { end: 9, mode: 'write', wait: 0, pid: 1 } as const
  expect(await session.tries({ ...lock, ...more, owner: 'o'.repeat(1 << 20) })).toBe('malformed')
  expect(await session.tries({ ...lock, ...more, owner: 'o'.repeat(64) })).toBe('done')
})

it('a hidden file that lost its name: no token keeps it by its number', async () => {
  const hidden = await site.ino('/hidden/b')
  const dark = await site.ino('/hidden')
  const key = await site.issue([{ path: '/src', operations: ['read', 'list'] }])
  const reader = await site.session(key, { mode: 'read' })
  const owner = await site.session(secret)
  const epoch = await owner.leaseEpoch()
  const unlink = { type: 'unlink', time: now(), parent: dark, name: 'b' as Name } as const
  expect(await owner.submit(epoch, unlink)).toBe('done')
  owner.send({ type: 'bye' })
  const timer = setInterval(
    () => reader.send({ type: 'hold', inos: encodeInos([hidden]) }),
    leaseMs / 3,
  )
  try {
    const witness = await site.session(secret, { mode: 'read' })
    const left = async (): Promise<readonly Ino[]> =>
      decodeInos(await witness.ask({ type: 'nameless' }))
    await until(async () => !(await left()).includes(hidden))
  } finally {
    clearInterval(timer)
  }
})
