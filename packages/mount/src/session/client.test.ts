import { decodeBody, encodeBody, type Op } from '@cairn/core'
import {
  type Hash,
  type RescueOutcome,
  rootIno,
  type SessionReply,
  type SessionRequest,
} from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { SessionClient } from './client.ts'
import type { WireEvents } from './wire.ts'

const hash = '\0'.repeat(32) as Hash
const op: Op = { type: 'reap', ino: rootIno }
const time = { sec: 1, nsec: 0 }
const emptyBody = encodeBody({ type: 'ops', ops: [] }, time)

/** A server played by hand: it says what the test says, and sees what the session sends. */
class Stage {
  readonly session: SessionClient
  readonly rescues: RescueOutcome[] = []
  recalls = 0
  standings = 0
  sent: SessionRequest[] = []
  #events: WireEvents | undefined
  readonly #sleeping: (() => void)[] = []

  constructor() {
    this.session = new SessionClient({
      connect: async (events) => {
        this.#events = events
        return {
          send: (request) => this.sent.push(request),
          close: () => events.onClose(),
          ping: async () => undefined,
        }
      },
      clock: { sleep: () => new Promise((resolve) => this.#sleeping.push(resolve)) },
      workspace: 'w',
      branch: 'main',
      mode: 'write',
    }).start({
      onRescue: (outcome) => this.rescues.push(outcome),
      onRecall: () => this.recalls++,
      onStanding: () => this.standings++,
    })
  }

  async say(...replies: readonly SessionReply[]): Promise<void> {
    for (const reply of replies) this.#events!.onReply(reply)
    await settle()
  }

  async welcome(epoch = 1): Promise<void> {
    await settle()
    await this.say({
      type: 'welcome',
      version: 1,
      session: 's',
      seq: 0,
      epoch,
      leaseMs: 1000,
      root: rootIno,
    })
  }

  async cut(): Promise<void> {
    this.#events!.onClose()
    await settle()
  }

  async reconnect(epoch?: number): Promise<void> {
    await this.cut()
    for (const wake of this.#sleeping.splice(0)) wake()
    await this.welcome(epoch)
  }

  /** What was sent since it was last asked, without the hellos and renewals. */
  take(): readonly string[] {
    const sent = this.sent.map(describeRequest).filter((line) => line !== '')
    this.sent = []
    return sent
  }
}

function describeRequest(request: SessionRequest): string {
  if (request.type === 'hello' || request.type === 'renew') return ''
  if (request.type === 'submit') {
    const empty = decodeBody(request.body).ops.length === 0 ? ' empty' : ''
    return `submit ${request.number} in ${request.epoch}${empty}`
  }
  if (request.type === 'released') return `released ${request.epoch}`
  if (request.type === 'rescue') return `rescue ${request.number} of ${request.epoch}`
  return request.type
}

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

const refused = (number: number, code: string): SessionReply => ({
  type: 'refused',
  number,
  code,
  what: '',
  reason: '',
  hint: '',
  subject: '',
})
const receipt = (number: number): SessionReply => ({
  type: 'receipt',
  number,
  seq: number,
  hash,
  shown: 0,
})

describe('session', () => {
  let stage: Stage
  const submit = (acknowledged = false): Promise<string> =>
    stage.session.submit([op], time, acknowledged).then(
      ({ seq }) => `at ${seq}`,
      (error: Error) => error.message,
    )

  beforeEach(async () => {
    stage = new Stage()
    await stage.welcome()
  })

  it('a new standing sends no second copy beside one without an answer', async () => {
    await stage.say({ type: 'shared', epoch: 2 })
    void submit()
    await stage.say({ type: 'shared', epoch: 3 })
    void submit()
    expect(stage.take()).toEqual(['submit 1 in 2'])
    await stage.say(refused(1, 'stale_epoch'))
    expect(stage.take()).toEqual(['submit 1 in 3', 'submit 2 in 3'])
  })

  it('refused because the epoch is over, it waits for the next one', async () => {
    await stage.say({ type: 'shared', epoch: 2 })
    void submit()
    void submit()
    await stage.say(refused(1, 'stale_epoch'), refused(2, 'stale_epoch'))
    expect(stage.sent.filter(({ type }) => type === 'renew')).toHaveLength(1)
    void submit()
    expect(stage.take()).toEqual(['submit 1 in 2', 'submit 2 in 2'])
    await stage.say({ type: 'shared', epoch: 4 })
    expect(stage.take()).toEqual(['submit 1 in 4', 'submit 2 in 4', 'submit 3 in 4'])
  })

  it('a lease whose epoch is over acknowledges nothing after the rescue either', async () => {
    await stage.say({ type: 'lease', epoch: 2 })
    void submit(true)
    await stage.say(refused(1, 'stale_epoch'))
    expect(stage.recalls).toBe(1)
    await stage.say({ type: 'answer', id: 1, bytes: new Uint8Array() })
    await stage.say({ type: 'answer', id: 2, bytes: new TextEncoder().encode('kept l') })
    expect(stage.rescues).toEqual([{ result: 'kept', layer: 'l' }])
    expect(stage.session).toMatchObject({ canAcknowledge: false, standing: 'waiting' })
  })

  it('passed over, it goes again under a new number', async () => {
    await stage.say({ type: 'shared', epoch: 2 })
    const outcome = submit()
    await stage.say(refused(1, 'batch_passed_over'))
    expect(stage.take()).toEqual(['submit 1 in 2', 'submit 2 in 2'])
    await stage.say(receipt(2))
    expect(await outcome).toBe('at 2')
  })

  it('a refusal is believed once no older copy can reach the log', async () => {
    await stage.say({ type: 'shared', epoch: 2 })
    const outcome = submit()
    await stage.reconnect()
    await stage.say({ type: 'shared', epoch: 2 }, refused(1, 'EEXIST'))
    expect(stage.take()).toEqual(['submit 1 in 2', 'submit 1 in 2', 'submit 2 in 2 empty'])
    await stage.say(receipt(2))
    expect(stage.take()).toEqual(['submit 1 in 2'])
    await stage.say(refused(1, 'batch_passed_over'))
    expect(await outcome).toMatch(/EEXIST/)
  })

  it('the older copy of a refused one reached the log: it is written', async () => {
    await stage.say({ type: 'shared', epoch: 2 })
    const outcome = submit()
    await stage.reconnect()
    await stage.say({ type: 'shared', epoch: 2 }, refused(1, 'EEXIST'), receipt(2), receipt(1))
    expect(await outcome).toBe('at 1')
  })

  it('recalled over a new connection, it hands everything in, and the lease back', async () => {
    await stage.say({ type: 'lease', epoch: 2 })
    void submit(true)
    stage.take()
    await stage.reconnect()
    await stage.say({ type: 'recall', epoch: 2 })
    expect(stage.session.standing).toBe('waiting')
    expect(stage.take()).toEqual(['submit 1 in 2'])
    await stage.say(receipt(1))
    expect(stage.take()).toEqual(['released 2'])
  })

  it.each(['stale_epoch', 'batch_passed_over'])(
    'acknowledged and refused with %s, it is rescued before anything more is acknowledged',
    async (code) => {
      await stage.say({ type: 'lease', epoch: 2 })
      const outcomes = [submit(true), submit(true)]
      await stage.reconnect()
      stage.take()
      await stage.say({ type: 'lease', epoch: 4 })
      expect(stage.session.standing).toBe('waiting')
      await stage.say(refused(1, code))
      expect(stage.take()).toEqual(['submit 1 in 2', 'submit 2 in 2'])
      await stage.say(refused(2, code))
      expect(stage.take()).toEqual(['rescue 1 of 2'])
      expect(stage.session.pendingCount).toBe(2)
      await stage.say({ type: 'answer', id: 1, bytes: new Uint8Array() })
      await stage.say({ type: 'answer', id: 2, bytes: new Uint8Array() })
      expect(stage.take()).toEqual(['rescue 2 of 2', 'rescue 0 of 2'])
      expect(stage.session.standing).toBe('waiting')
      await stage.say({ type: 'answer', id: 3, bytes: new TextEncoder().encode('kept l') })
      expect(stage.rescues).toEqual([{ result: 'kept', layer: 'l' }])
      expect(await Promise.all(outcomes)).toEqual([
        expect.stringMatching(/kept in layer l/),
        expect.stringMatching(/kept in layer l/),
      ])
      expect(stage.session.standing).toBe('lease')
    },
  )

  it('cut off, the holder goes on acknowledging, and finds its lease as it was', async () => {
    expect(stage.session.canAcknowledge).toBe(false)
    await stage.say({ type: 'lease', epoch: 2 })
    await stage.cut()
    expect(stage.session).toMatchObject({ canAcknowledge: true, isConnected: false })
    expect(stage.session.standing).toBe('waiting')
    const outcome = submit(true)
    await stage.reconnect(2)
    expect(stage.session).toMatchObject({ canAcknowledge: true, isConnected: true })
    await stage.say({ type: 'lease', epoch: 2 })
    expect(stage.take()).toEqual(['submit 1 in 2'])
    await stage.say(receipt(1))
    expect(await outcome).toBe('at 1')
    expect(stage.recalls).toBe(0)
  })

  it('what it acknowledged while its lease was lost is rescued', async () => {
    await stage.say({ type: 'lease', epoch: 2 })
    await stage.cut()
    void submit(true)
    await stage.reconnect(4)
    expect(stage.session.canAcknowledge).toBe(false)
    expect(stage.recalls).toBe(1)
    await stage.say({ type: 'shared', epoch: 4 }, refused(1, 'stale_epoch'))
    expect(stage.take()).toEqual(['submit 1 in 2', 'rescue 1 of 2'])
    expect(stage.recalls).toBe(1)
  })

  it.each<[string, SessionReply]>([
    ['a recall', { type: 'recall', epoch: 2 }],
    ['a shared standing', { type: 'shared', epoch: 2 }],
    ['a lease of another epoch', { type: 'lease', epoch: 4 }],
  ])('%s ends the acknowledging under a lease, and asks for what is reserved', async (_, reply) => {
    await stage.say({ type: 'lease', epoch: 2 })
    const reservation = stage.session.reserve()
    const before = stage.standings
    await stage.say(reply)
    expect(stage.recalls).toBe(1)
    expect(stage.standings).toBe(before + 1)
    expect(stage.session.canAcknowledge).toBe(false)
    expect(() => stage.session.reserve()).toThrow(/no lease/)
    expect(stage.take()).toEqual([])
    reservation.send(emptyBody)
    expect(stage.take()).toEqual(['submit 1 in 2 empty'])
  })

  it('a recall outlives the connection it came over', async () => {
    await stage.say({ type: 'lease', epoch: 2 })
    const reservation = stage.session.reserve()
    await stage.say({ type: 'recall', epoch: 2 })
    await stage.reconnect(2)
    expect(stage.session.canAcknowledge).toBe(false)
    await stage.say({ type: 'recall', epoch: 2 })
    reservation.send(emptyBody)
    await stage.say(receipt(1))
    expect(stage.take()).toEqual(['submit 1 in 2 empty', 'released 2'])
    await stage.say({ type: 'lease', epoch: 3 })
    expect(stage.session.canAcknowledge).toBe(true)
  })

  it('nothing is sent before what was reserved before it', async () => {
    await stage.say({ type: 'lease', epoch: 2 })
    const [first, second] = [stage.session.reserve(), stage.session.reserve()]
    void submit()
    second.send(emptyBody)
    expect(stage.take()).toEqual([])
    expect(stage.session.pendingCount).toBe(3)
    first.send(emptyBody)
    expect(stage.take()).toEqual(['submit 1 in 2 empty', 'submit 2 in 2 empty', 'submit 3 in 2'])
  })
})
