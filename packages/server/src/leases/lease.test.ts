import type { BranchId, SessionId } from '@cairn/protocol'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  addHolder,
  forfeit,
  holdersOf,
  isOverdue,
  join,
  leave,
  newLease,
  type Patience,
  progress,
  recall,
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
    expect(forfeit(record, a, record.epoch, 0)).toMatchObject({ newEpoch: true, record: after })
  })

  it('only in its epoch can it be forfeited', () => {
    expect(forfeit(held, a, held.epoch - 1, 0)).toEqual(unchanged(held))
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

/** As the keeper does: each new epoch begins without co-holders. */
class Keeper {
  record: LeaseRecord = empty
  newEpoch = false

  take({ record, newEpoch }: Transition): this {
    const epoch = this.record.epoch + (newEpoch ? 1 : 0)
    this.record = { ...record, epoch }
    this.newEpoch = newEpoch
    return this
  }
}

describe('a lease that several hold', () => {
  const shares = (session: SessionId, expiresAtMs: number) => ({
    session,
    expiresAtMs,
    sharesAt: 'server',
  })
  const patience = { ms: 30, mostMs: 100 }
  const c = 'c' as SessionId
  let keeper: Keeper

  beforeEach(() => {
    keeper = new Keeper()
    for (const session of [a, b, c]) keeper.take(join(keeper.record, shares(session, 10), 0))
    for (const session of [b, c])
      keeper.take(unchanged(addHolder(keeper.record, session, keeper.record.epoch)))
  })

  it('a lease that several hold is of one epoch', () => {
    expect(keeper.record).toMatchObject({ holder: a, coHolders: [b, c], epoch: 2 })
  })

  it('takes no holder in when it is recalled, in another epoch, or beside a writer that shares nothing', () => {
    const { record } = keeper
    const without = { ...record, coHolders: [] }
    expect(addHolder(without, b, record.epoch - 1)).toBe(without)
    const recalled = recall(without, 0, patience)
    expect(addHolder(recalled, b, record.epoch)).toBe(recalled)
    const mixed = join(without, until('d' as SessionId, 10), 0).record
    expect(addHolder({ ...mixed, recalled: false }, b, record.epoch).coHolders).toEqual([])
    const unheld = { ...record, holder: undefined, coHolders: [] }
    expect(addHolder(unheld, b, record.epoch)).toBe(unheld)
  })

  it('a lease that several hold is another one’s when the first holder leaves, in the same epoch; the last one is alone with it', () => {
    expect(keeper.take(leave(keeper.record, a)).record).toMatchObject({ holder: b, coHolders: [c] })
    expect(keeper.take(leave(keeper.record, c)).record).toMatchObject({ holder: b, coHolders: [] })
    expect(keeper.record).toMatchObject({ epoch: 2, recalled: false })
  })

  it('a lease that several hold is recalled from all by a writer that shares nothing, and waits for each', () => {
    const { epoch } = keeper.record
    keeper.take(join(keeper.record, until('d' as SessionId, 10), 0, patience))
    expect(keeper.record).toMatchObject({ holder: a, coHolders: [b, c], recalled: true, epoch })
    for (const session of [a, c]) keeper.take(release(keeper.record, session, epoch))
    expect(keeper.record).toMatchObject({ holder: b, coHolders: [], recalled: true, epoch })
    keeper.take(release(keeper.record, b, epoch))
    expect(keeper.record).toMatchObject({ holder: undefined, recalled: false, epoch })
  })

  it('a recall of a silent holder ends when the live ones have handed in', () => {
    const { epoch } = keeper.record
    for (const session of [b, c])
      keeper.take(renew(keeper.record, shares(session, 50), 9, patience)!)
    keeper.take(renew(keeper.record, shares(b, 50), 20, patience)!)
    expect(keeper.record).toMatchObject({ holder: a, recalled: true, deadline: { ms: 50 }, epoch })
    keeper.take(release(keeper.record, c, epoch))
    expect(keeper.record).toMatchObject({ recalled: true, epoch })
    keeper.take(release(keeper.record, b, epoch))
    expect(keeper.record).toMatchObject({ holder: undefined, coHolders: [], epoch: epoch + 1 })
  })

  it('goes on to the end in the same epoch when the silent one comes back in time', () => {
    const { epoch } = keeper.record
    keeper.take(renew(keeper.record, shares(b, 50), 20, patience)!)
    keeper.take(join(keeper.record, shares(a, 50), 21, patience))
    keeper.take(join(keeper.record, shares(c, 50), 21, patience))
    for (const session of [b, c, a]) keeper.take(release(keeper.record, session, epoch))
    expect(keeper.record).toMatchObject({ holder: undefined, coHolders: [], epoch })
  })

  it('a recall ends at its deadline, even if some have not handed in', () => {
    const { epoch } = keeper.record
    for (const session of [a, b, c])
      keeper.take(renew(keeper.record, shares(session, 500), 9, patience)!)
    keeper.take(unchanged(recall(keeper.record, 9, patience)))
    keeper.take(release(keeper.record, a, epoch))
    keeper.take(renew(keeper.record, shares(a, 500), 39, patience)!)
    expect(keeper.record).toMatchObject({ holder: undefined, coHolders: [], epoch: epoch + 1 })
    expect(keeper.record.writers).toHaveLength(3)
  })

  it('a lease that one holder forfeits ends when the others have handed in', () => {
    const { epoch } = keeper.record
    keeper.take(forfeit(keeper.record, b, epoch, 0, patience))
    expect(keeper.record).toMatchObject({ recalled: true, epoch })
    for (const session of [a, b, c]) keeper.take(release(keeper.record, session, epoch))
    keeper.take(forfeit(keeper.record, b, epoch, 1, patience))
    expect(keeper.record).toMatchObject({ recalled: false, epoch: epoch + 1 })
  })

  it('gives more time to any holder that is at it', () => {
    const recalled = recall(keeper.record, 0, patience)
    expect(progress(recalled, c, 20, patience).deadline?.ms).toBe(50)
  })

  it('whatever happens: its epoch ends only when each holder has handed in, is silent or overdue', () => {
    const sessions = [a, b, c]
    const step = fc.record({
      what: fc.constantFrom('join', 'renew', 'release', 'leave', 'add', 'recall', 'forfeit'),
      session: fc.constantFrom(...sessions),
      wait: fc.nat(12),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const keeper = new Keeper()
        /** Who may acknowledge, or has and not handed in, as the sessions themselves know it. */
        const holding = new Set<SessionId>()
        let now = 0
        for (const { what, session, wait } of steps) {
          now += wait
          const before = keeper.record
          if (what === 'release' && !before.recalled) continue
          keeper.take(moveSharing(before, what, shares(session, now + 10), now, patience))
          if (what === 'release' || what === 'leave') holding.delete(session)
          if (keeper.newEpoch) {
            const live = before.writers.filter(({ expiresAtMs }) => expiresAtMs > now)
            const left = live.filter(
              (writer) => holding.has(writer.session) && writer.session !== session,
            )
            if (!isOverdue(before, now)) expect(left.map((writer) => writer.session)).toEqual([])
            holding.clear()
            expect(keeper.record.coHolders).toEqual([])
          }
          for (const holder of holdersOf(keeper.record)) holding.add(holder)
          // A holder that has not handed in is known, so that no epoch passes it by.
          expect(holdersOf(keeper.record)).toEqual(expect.arrayContaining([...holding]))
        }
      }),
    )
  })
})

function moveSharing(
  record: LeaseRecord,
  what: string,
  writer: LeaseWriter,
  now: number,
  patience: Patience,
): Transition {
  const { session } = writer
  if (what === 'join') return join(record, writer, now, patience)
  if (what === 'renew') return renew(record, writer, now, patience) ?? unchanged(record)
  if (what === 'leave') return leave(record, session)
  if (what === 'add') return unchanged(addHolder(record, session, record.epoch))
  if (what === 'recall') return unchanged(recall(record, now, patience))
  if (what === 'forfeit')
    return holdersOf(record).includes(session)
      ? forfeit(record, session, record.epoch, now, patience)
      : unchanged(record)
  return release(record, session, record.epoch)
}

function move(record: LeaseRecord, what: string, writer: LeaseWriter, now: number): Transition {
  if (what === 'join') return join(record, writer, now)
  if (what === 'renew') return renew(record, writer, now) ?? unchanged(record)
  if (what === 'leave') return leave(record, writer.session)
  return release(record, writer.session, record.epoch)
}
