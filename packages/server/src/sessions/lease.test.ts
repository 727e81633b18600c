import type { BranchId, SessionId } from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { join, leave, type LeaseRecord, newLease, release, renew } from './lease.ts'

const a = 'a' as SessionId
const b = 'b' as SessionId
const empty = newLease('main' as BranchId)
const until = (session: SessionId, expiresAtMs: number) => ({ session, expiresAtMs })

describe('lease', () => {
  it('the only writer holds it', () => {
    expect(join(empty, until(a, 10), 0)).toMatchObject({
      fence: false,
      record: { holder: a, recalled: false },
    })
  })

  it('a second writer recalls it; once handed back, nobody holds it', () => {
    const { record } = join(join(empty, until(a, 10), 0).record, until(b, 10), 0)
    expect(record).toMatchObject({ holder: a, recalled: true })
    expect(release(record, a)).toMatchObject({ holder: undefined, recalled: false })
  })

  it('the writer that remains gets it back', () => {
    const shared = release(join(join(empty, until(a, 10), 0).record, until(b, 10), 0).record, a)
    expect(leave(shared, b)).toMatchObject({ holder: a })
  })

  it('a holder that fell silent is fenced off when another writer comes', () => {
    const held = join(empty, until(a, 10), 0).record
    expect(join(held, until(b, 30), 20)).toMatchObject({
      fence: true,
      record: { holder: b, recalled: false },
    })
  })

  it('a holder that fell silent alone comes back to its lease', () => {
    const held = join(empty, until(a, 10), 0).record
    expect(renew(held, until(a, 40), 30)).toMatchObject({ fence: false, record: { holder: a } })
  })

  it('a session that was given up must join again', () => {
    const held = join(join(empty, until(a, 10), 0).record, until(b, 30), 20).record
    expect(renew(held, until(a, 40), 25)).toBeUndefined()
  })

  it('whatever happens: a holder is a writer, and nobody is fenced while it is heard of', () => {
    const step = fc.record({
      what: fc.constantFrom('join', 'renew', 'release', 'leave'),
      session: fc.constantFrom(a, b, 'c' as SessionId),
      wait: fc.nat(15),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let record: LeaseRecord = empty
        let now = 0
        for (const { what, session, wait } of steps) {
          now += wait
          const before = record
          const writer = until(session, now + 10)
          const moved =
            what === 'join'
              ? join(record, writer, now)
              : what === 'renew'
                ? (renew(record, writer, now) ?? { record, fence: false })
                : {
                    record: what === 'leave' ? leave(record, session) : release(record, session),
                    fence: false,
                  }
          record = moved.record
          const { holder } = record
          if (holder !== undefined) expect(record.writers.map((w) => w.session)).toContain(holder)
          const heard = before.writers.find((w) => w.session === before.holder)
          if (moved.fence) expect(heard!.expiresAtMs).toBeLessThanOrEqual(now)
          const taken = before.holder !== undefined && holder !== before.holder && !moved.fence
          if (taken)
            expect([what, session]).toEqual([what === 'leave' ? 'leave' : 'release', before.holder])
        }
      }),
    )
  })
})
