import type { BranchId, SessionId } from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  forfeit,
  join,
  leave,
  newLease,
  progress,
  release,
  renew,
  type Transition,
  unchanged,
} from './lease.ts'
import type { LeaseRecord, LeaseWriter } from '../ports/lease-store.ts'

const a = 'a' as SessionId
const b = 'b' as SessionId
const empty = newLease('main' as BranchId)
const until = (session: SessionId, expiresAtMs: number) => ({ session, expiresAtMs })

describe('lease', () => {
  const held = join(empty, until(a, 10), 0).record
  const wanted = join(held, until(b, 10), 0).record

  it('the only writer holds it, in an epoch of its own', () => {
    expect(join(empty, until(a, 10), 0)).toMatchObject({
      newEpoch: true,
      record: { holder: a, recalled: false },
    })
  })

  it('a second writer recalls it; once handed back, no session holds it, in the same epoch', () => {
    expect(wanted).toMatchObject({ holder: a, recalled: true })
    expect(release(wanted, a, wanted.epoch)).toMatchObject({
      newEpoch: false,
      record: { holder: undefined, recalled: false },
    })
  })

  it('the writer that remains gets it back', () => {
    const shared = release(wanted, a, wanted.epoch).record
    expect(leave(shared, b)).toMatchObject({ newEpoch: true, record: { holder: a } })
  })

  it('a holder that renews and does not hand it back loses it at the deadline, and stays a writer', () => {
    const patience = { ms: 30, mostMs: 100 }
    const asked = join(held, until(b, 500), 0, patience).record
    const alive = renew(asked, until(a, 500), 29)!.record
    expect(alive).toMatchObject({ holder: a, recalled: true })
    expect(renew(alive, until(b, 500), 30)).toMatchObject({
      newEpoch: true,
      record: { holder: undefined, recalled: false, deadline: undefined },
    })
    expect(renew(alive, until(b, 500), 30)!.record.writers).toHaveLength(2)
  })

  it('receipts move the deadline, up to the last one', () => {
    const patience = { ms: 30, mostMs: 100 }
    const asked = join(held, until(b, 500), 0, patience).record
    const later = progress(asked, a, 20, patience)
    expect(later.deadline).toEqual({ ms: 50, lastMs: 100 })
    expect(progress(later, a, 90, patience).deadline).toEqual({ ms: 100, lastMs: 100 })
    expect(progress(asked, b, 20, patience)).toBe(asked)
    // A moment later is not worth a write to the store.
    expect(progress(later, a, 21, patience)).toBe(later)
  })

  it('a recall stands until it is answered: a holder that comes back is still wanted out', () => {
    expect(join(wanted, until(a, 20), 5).record).toMatchObject({ holder: a, recalled: true })
  })

  it.each([
    ['its only writer', held, { holder: a, recalled: false }],
    ['a writer that another one waits for', wanted, { holder: undefined, recalled: false }],
  ])('forfeited by %s, its epoch is over', (_, record, after) => {
    expect(forfeit(record, a, record.epoch)).toMatchObject({ newEpoch: true, record: after })
  })

  it('only its own holder forfeits it, and only in its epoch', () => {
    expect(forfeit(held, b, held.epoch)).toEqual(unchanged(held))
    expect(forfeit(held, a, held.epoch - 1)).toEqual(unchanged(held))
  })

  it('handed back by the only writer, it is granted again, in a new epoch', () => {
    const alone = leave(wanted, b).record
    expect(alone).toMatchObject({ holder: a, recalled: true })
    expect(release(alone, a, alone.epoch)).toMatchObject({
      newEpoch: true,
      record: { holder: a, recalled: false },
    })
  })

  it('handing back a lease of an earlier epoch hands back nothing', () => {
    expect(release(wanted, a, wanted.epoch - 1)).toEqual({ newEpoch: false, record: wanted })
  })

  it('a holder that fell silent is passed by when another writer comes, in a new epoch', () => {
    expect(join(held, until(b, 30), 20)).toMatchObject({
      newEpoch: true,
      record: { holder: b, recalled: false },
    })
  })

  it('a holder that fell silent alone comes back to its lease, over the old connection or a new one', () => {
    for (const back of [renew(held, until(a, 40), 30), join(held, until(a, 40), 30)])
      expect(back).toMatchObject({ newEpoch: false, record: { holder: a } })
  })

  it('a session that was given up must join again', () => {
    const given = join(held, until(b, 30), 20).record
    expect(renew(given, until(a, 40), 25)).toBeUndefined()
  })

  it('whatever happens: a holder is a writer, and a silent one loses it only to a new epoch', () => {
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
          const moved = move(before, what, until(session, now + 10), now)
          record = moved.record
          const { holder } = record
          if (holder !== undefined) expect(record.writers.map((w) => w.session)).toContain(holder)
          if (holder === before.holder) continue
          if (holder !== undefined) expect(moved.newEpoch).toBe(true)
          const heard = before.writers.find((w) => w.session === before.holder)
          const gave = (what === 'leave' || what === 'release') && session === before.holder
          if (before.holder !== undefined && !gave) {
            expect(moved.newEpoch).toBe(true)
            expect(heard!.expiresAtMs).toBeLessThanOrEqual(now)
          }
        }
      }),
    )
  })
})

function move(record: LeaseRecord, what: string, writer: LeaseWriter, now: number): Transition {
  if (what === 'join') return join(record, writer, now)
  if (what === 'renew') return renew(record, writer, now) ?? unchanged(record)
  if (what === 'leave') return leave(record, writer.session)
  return release(record, writer.session, record.epoch)
}
