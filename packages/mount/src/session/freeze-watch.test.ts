import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { SessionReply } from '@cairn/protocol'
import { FreezeWatch } from './freeze-watch.ts'
import type { WireEvents } from './wire.ts'

const leaseMs = 9000

describe('a session watches whether its process was frozen', () => {
  let watch: FreezeWatch
  let events: WireEvents
  let closed: number

  beforeEach(async () => {
    vi.useFakeTimers()
    closed = 0
    watch = new FreezeWatch()
    const connect = watch.through(async (given) => {
      events = given
      return { send: () => undefined, close: () => closed++, ping: async () => undefined }
    })
    await connect({ onReply: () => undefined, onClose: () => undefined })
    events.onReply({ type: 'welcome', leaseMs } as SessionReply)
  })
  afterEach(() => vi.useRealTimers())

  it('one that runs is not in doubt, however long it hears nothing', () => {
    vi.advanceTimersByTime(10 * leaseMs)
    expect([watch.isInDoubt, closed]).toEqual([false, 0])
  })

  it('one that did not run for a lease time is in doubt at once, and leaves its connection', () => {
    vi.setSystemTime(Date.now() + leaseMs)
    expect([watch.isInDoubt, closed]).toEqual([true, 0])
    vi.advanceTimersByTime(leaseMs)
    expect([watch.isInDoubt, closed]).toEqual([true, 1])
  })

  it('the next welcome ends the doubt', () => {
    vi.setSystemTime(Date.now() + leaseMs)
    vi.advanceTimersByTime(leaseMs)
    events.onReply({ type: 'welcome', leaseMs } as SessionReply)
    expect(watch.isInDoubt).toBe(false)
  })
})
