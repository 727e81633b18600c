import type { SessionId } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { Reservations } from './reservations.ts'

const [a, b] = ['s_a', 's_b'] as SessionId[] as [SessionId, SessionId]
const files = (count: number) => ({ bytes: 0, files: count })
const limits = { bytes: Infinity, files: 10 }

describe('reservations', () => {
  it('others do not get what was promised, and the session does', () => {
    const room = new Reservations()
    room.promise(a, 1, files(6))
    expect(room.free(limits, files(2)).files).toBe(2)
    const growth = { used: files(2), added: files(3) }
    expect(room.judge({ session: b, ...growth }, limits)).toMatchObject({ isPromised: true })
    expect(room.judge({ session: a, ...growth }, limits)).toBeUndefined()
  })

  it('more than the promise draws from what is free', () => {
    const room = new Reservations()
    room.promise(a, 1, files(4))
    room.promise(b, 1, files(3))
    const judge = (count: number) =>
      room.judge({ session: a, used: files(0), added: files(count) }, limits)
    expect(judge(7)).toBeUndefined()
    expect(judge(8)).toMatchObject({ isPromised: true, wanted: 8 })
    expect(judge(11)).toMatchObject({ isPromised: false, wanted: 11 })
  })

  it('counts what is drafted once, and takes it from the promise when it is in the log', () => {
    const room = new Reservations()
    room.beginDraft(1)
    room.promise(a, 1, files(6))
    room.draft(a, files(2))
    room.draft(b, files(1))
    expect(room.free(limits, files(0)).files).toBe(3)
    room.settle(a, files(2))
    expect(room.of(a).files).toBe(4)
    expect(room.free(limits, files(2)).files).toBe(3)
    room.beginDraft(1)
    expect(room.free(limits, files(2)).files).toBe(4)
  })

  it('takes what was promised by limits that are lower now', () => {
    const room = new Reservations()
    room.promise(a, 1, files(6))
    const low = { bytes: Infinity, files: 1 }
    const judge = (count: number) =>
      room.judge({ session: a, used: files(0), added: files(count) }, low)
    expect(judge(6)).toBeUndefined()
    expect(judge(7)).toMatchObject({ what: 'files' })
  })

  it('never refuses what makes the tree smaller', () => {
    const room = new Reservations()
    const low = { bytes: 1, files: 1 }
    const added = { bytes: -5, files: 0 }
    expect(room.judge({ session: a, used: { bytes: 9, files: 9 }, added }, low)).toBeUndefined()
  })

  it('a promise ends with its epoch, and with the session', () => {
    const room = new Reservations()
    room.promise(a, 1, files(6))
    room.promise(b, 1, files(1))
    room.keepOnly([b])
    expect(room.has(a)).toBe(false)
    room.beginDraft(2)
    expect(room.has(b)).toBe(false)
  })
})
