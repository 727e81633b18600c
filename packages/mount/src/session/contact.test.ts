import type { SessionReply } from '@cairn/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Contact, OutOfContact } from './contact.ts'
import type { Wire, WireEvents } from './wire.ts'

const leaseMs = 9000

describe('a session knows for how long the server may have heard nothing from it', () => {
  let contact: Contact
  let wire: Wire
  let events: WireEvents
  let pings: (() => void)[]

  beforeEach(async () => {
    vi.useFakeTimers()
    pings = []
    contact = new Contact()
    await connect()
    welcome()
  })
  afterEach(() => vi.useRealTimers())

  async function connect(): Promise<void> {
    const through = contact.through(async (given) => {
      events = given
      const ping = (): Promise<void> => new Promise((answered) => pings.push(answered))
      return { send: () => undefined, close: () => undefined, ping }
    })
    wire = await through({ onReply: () => undefined, onClose: () => undefined })
  }

  function welcome(): void {
    events.onReply({ type: 'welcome', leaseMs } as SessionReply)
  }

  /** What `require` throws; undefined where it throws nothing. */
  function refusal(): unknown {
    try {
      contact.require()
      return undefined
    } catch (error) {
      return error
    }
  }

  it('the silence counts from when an answered renewal was sent, not from the answer', async () => {
    vi.advanceTimersByTime(leaseMs / 3)
    wire.send({ type: 'renew' })
    vi.advanceTimersByTime(leaseMs / 3)
    pings.shift()!()
    await Promise.resolve()
    vi.advanceTimersByTime((leaseMs * 2) / 3 - 1)
    expect(refusal()).toBeUndefined()
    vi.advanceTimersByTime(1)
    expect(refusal()).toBeInstanceOf(OutOfContact)
  })

  it('a renewal that has no answer counts for nothing', () => {
    vi.advanceTimersByTime(leaseMs - 1)
    wire.send({ type: 'renew' })
    vi.advanceTimersByTime(1)
    expect(refusal()).toBeInstanceOf(OutOfContact)
  })

  it('a caller that waits goes on with the next answer', async () => {
    vi.advanceTimersByTime(leaseMs)
    const { isOver } = refusal() as OutOfContact
    wire.send({ type: 'renew' })
    pings.shift()!()
    await isOver
    expect(refusal()).toBeUndefined()
  })

  it('a caller that waits goes on with a welcome over another connection', async () => {
    vi.advanceTimersByTime(leaseMs)
    const { isOver } = refusal() as OutOfContact
    await connect()
    welcome()
    await isOver
    expect(refusal()).toBeUndefined()
  })
})
