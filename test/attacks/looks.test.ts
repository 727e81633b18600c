// Directories that a session looks into are remembered, and the holder of the lease is asked for them.
import { type Ino, rootIno } from '@cairn/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { secret } from '../sessions/fixture.ts'
import { Site } from './site.ts'

let site: Site
beforeEach(async () => {
  site = await Site.open(['/src/a'])
})
afterEach(() => site.close())

it('looks at inodes that are no directories are not remembered, and the holder is not asked', async () => {
  const holder = await site.session(secret, { mode: 'share' })
  await holder.leaseEpoch()
  const other = await site.session(secret, { mode: 'share' })
  const made = Array.from({ length: 900 }, (_, at) => (1_000_000 + at) as Ino)
  await other.ask({ type: 'look', inos: made })
  const looked = other.ask({ type: 'look', inos: [...made, rootIno] })
  const { id } = await holder.hears('yield')
  holder.send({ type: 'done', request: id })
  await looked
  const asked = holder.heard.flatMap((reply) => (reply.type === 'yield' ? [reply.inos] : []))
  expect(asked).toEqual([[rootIno]])
})
