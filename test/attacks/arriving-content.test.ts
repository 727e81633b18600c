// Content that a session stores counts before it is written from.
import type { Op } from '@cairn/core'
import { decodeBlobAnswer } from '@cairn/mount'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { secret, writeBytes } from '../sessions/fixture.ts'
import type { RawSession } from './raw-session.ts'
import { Site } from './site.ts'

const allow = [{ path: '/src', operations: ['read', 'list', 'write', 'delete'] }]
const blobBytes = 256 << 10
/** Room for what programs write at once, in docs/internals/protocol.md. */
const spareBlobs = (16 << 20) / blobBytes

describe('content that a session stores', () => {
  let site: Site

  beforeEach(async () => {
    site = await Site.open(['/src/a'], 60_000)
  })
  afterEach(() => site.close())

  const blob = (at: number): Uint8Array => new Uint8Array(blobBytes).fill(at % 250).fill(at, 0, 9)
  const outcomesOf = (session: RawSession, count: number): Promise<string[]> =>
    Promise.all(
      Array.from({ length: count }, (_, at) =>
        session.tries({ type: 'blob', bytes: blob(at + 1) }),
      ),
    )

  it.each(['write', 'read'] as const)(
    'under a budget, 40 MiB of it are refused to a session that is open to %s',
    async (mode) => {
      const session = await site.session(await site.issue(allow, { maxBytes: 1000 }), { mode })
      const outcomes = await outcomesOf(session, 160)
      const done = outcomes.filter((outcome) => outcome === 'done').length
      expect([done, new Set(outcomes)]).toEqual([spareBlobs, new Set(['done', 'quota_exceeded'])])
    },
  )

  it('a quota limits content that arrives, also for the owner', async () => {
    await site.owner('PATCH', '/w', { maxBytes: 4 * blobBytes })
    const session = await site.session(secret)
    const outcomes = await outcomesOf(session, 100)
    expect(outcomes.filter((outcome) => outcome === 'done').length).toBe(spareBlobs + 4)
  })

  it('content is not limited without a budget and a quota', async () => {
    const session = await site.session(await site.issue(allow))
    expect(new Set(await outcomesOf(session, 80))).toEqual(new Set(['done']))
  })

  it('what is written from makes room for more', async () => {
    const session = await site.session(await site.issue(allow, { maxBytes: 4 << 20 }))
    const [epoch, ino] = [await session.leaseEpoch(), await site.ino('/src/a')]
    // More than the budget and the spare room together, over the same bytes of one file.
    for (let round = 0; round < 4; round++) {
      const ids = Array.from({ length: 40 }, (_, at) => round * 40 + at + 1)
      const blobs = await Promise.all(
        ids.map(async (at) =>
          decodeBlobAnswer(await session.ask({ type: 'blob', bytes: blob(at) })),
        ),
      )
      const ops = blobs.map((stored): Op => {
        const { id, length } = stored!
        const data = { type: 'blob', id, blobLength: length, start: 0, length } as const
        return { ...writeBytes(ino, ''), data } as Op
      })
      expect(await session.submit(epoch, ...ops)).toBe('done')
    }
  })
})
