// Files that lost their names have only a number. A token hears of those that it has seen, and of no others.
import { decodeInos, type Ino, type Name } from '@cairn/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { now, secret } from '../sessions/fixture.ts'
import type { RawSession } from './raw-session.ts'
import { Site } from './site.ts'

let site: Site
beforeEach(async () => {
  site = await Site.open(['/src/a', '/hidden/b'], 60_000)
})
afterEach(() => site.close())

const namelessTo = async (session: RawSession): Promise<readonly number[]> =>
  decodeInos(await session.ask({ type: 'nameless' }))

it('files without a name: told to the token that saw them, also after it reconnects', async () => {
  const [seen, hidden] = [await site.ino('/src/a'), await site.ino('/hidden/b')]
  const [src, dark] = [await site.ino('/src'), await site.ino('/hidden')]
  const key = await site.issue([{ path: '/src', operations: ['read', 'list'] }])
  const reader = await site.session(key, { mode: 'read' })
  await reader.ask({ type: 'directory', ino: src, after: '' as Name, limit: 10 })
  const owner = await site.session(secret)
  const unlink = (parent: Ino, name: string) =>
    ({ type: 'unlink', time: now(), parent, name: name as Name }) as const
  const epoch = await owner.leaseEpoch()
  expect(await owner.submit(epoch, unlink(src, 'a'), unlink(dark, 'b'))).toBe('done')

  expect(new Set(await namelessTo(owner))).toEqual(new Set([seen, hidden]))
  expect(await namelessTo(reader)).toEqual([seen])
  const stranger = await site.session(key, { mode: 'read' })
  expect(await namelessTo(stranger)).toEqual([])
  reader.close()
  const again = await site.session(key, { mode: 'read', session: reader.id })
  expect(await namelessTo(again)).toEqual([seen])
})
