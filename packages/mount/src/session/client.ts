import { decodeBatch, encodeBody, type Op, type Time } from '@cairn/core'
import {
  CairnError,
  type Errno,
  errnoTable,
  type ErrorCode,
  errorTable,
  FsError,
  type SessionReply,
  type SessionRequest,
  sessionVersion,
} from '@cairn/protocol'
import type { Connect, Wire } from './wire.ts'

export interface SessionClock {
  /** Resolves after about that long. */
  sleep(ms: number): Promise<void>
}

export interface SessionOptions {
  readonly connect: Connect
  readonly clock: SessionClock
  readonly workspace: string
  readonly branch: string
  readonly mode: 'read' | 'write'
  /** Hears of every batch of the branch, in order, once. */
  readonly onBatch?: (bytes: Uint8Array) => void
  /** Hears where the late writes of a lost lease went. */
  readonly onRescue?: (outcome: string) => void
}

export type Standing = 'lease' | 'shared' | 'waiting'

interface Submission {
  readonly number: number
  readonly body: Uint8Array
  /** The epoch of the lease under which it was acknowledged before the server saw it; undefined if it was not. */
  readonly leaseEpoch: number | undefined
  readonly settled: PromiseWithResolvers<{ seq: number }>
}

type Ask = Extract<SessionRequest, { readonly id: number }>
/** A question without its number. */
type Question = Ask extends infer Each ? (Each extends Ask ? Omit<Each, 'id'> : never) : never

interface Asked {
  readonly ask: Ask
  readonly answered: PromiseWithResolvers<Uint8Array>
}

const retryMs = 200

/**
 * A session that lives longer than its connections. What it was given to submit is sent until it is receipted or
 * refused: in order, exactly once, under the same number however often the network breaks. What was acknowledged
 * under a lease that was lost meanwhile goes to a rescue layer.
 */
export class SessionClient {
  readonly #options: SessionOptions
  readonly #pending = new Map<number, Submission>()
  readonly #asked = new Map<number, Asked>()
  /** Acknowledged, refused because the lease was lost, and not yet rescued. */
  readonly #late: Submission[] = []
  #wire: Wire | undefined
  #session = ''
  #seq = 0
  #epoch = 0
  #standing: Standing = 'waiting'
  #recalled = false
  #lastNumber = 0
  #lastId = 0
  #closed = false

  constructor(options: SessionOptions) {
    this.#options = options
    void this.#stayConnected()
  }

  get id(): string {
    return this.#session
  }

  get standing(): Standing {
    return this.#standing
  }

  /** Submitted, and not yet at the server. */
  get pendingCount(): number {
    return this.#pending.size + this.#late.length
  }

  /**
   * Resolves once it is at the server. A holder of the lease may acknowledge it at once and says so: then it is
   * never refused, but may end in a rescue layer, which rejects with `stale_epoch`.
   */
  submit(ops: readonly Op[], time: Time, acknowledged = false): Promise<{ seq: number }> {
    if (acknowledged && this.#standing !== 'lease')
      throw new CairnError('stale_epoch', {
        message: 'cannot acknowledge: this session has no lease',
      })
    const submission = {
      number: ++this.#lastNumber,
      body: encodeBody({ type: 'ops', ops }, time),
      leaseEpoch: acknowledged ? this.#epoch : undefined,
      settled: Promise.withResolvers<{ seq: number }>(),
    }
    this.#pending.set(submission.number, submission)
    if (this.#standing !== 'waiting') this.#sendSubmission(submission)
    return submission.settled.promise
  }

  /** Asks about the branch's head; asked again when the connection breaks. */
  ask(question: Question): Promise<Uint8Array> {
    const id = ++this.#lastId
    const asked = { ask: { ...question, id } as Ask, answered: Promise.withResolvers<Uint8Array>() }
    this.#asked.set(id, asked)
    this.#wire?.send(asked.ask)
    return asked.answered.promise
  }

  /** Waits until all that was submitted so far is at the server, in the branch or in a rescue layer. */
  async drain(): Promise<void> {
    const waiting = [...this.#pending.values(), ...this.#late]
    await Promise.allSettled(waiting.map(({ settled }) => settled.promise))
  }

  async close(): Promise<void> {
    await this.drain()
    this.#wire?.send({ type: 'bye' })
    this.abandon()
  }

  /** Ends without a word, as a killed sandbox does. */
  abandon(): void {
    this.#closed = true
    this.#wire?.close()
  }

  async #stayConnected(): Promise<void> {
    while (!this.#closed) {
      await this.#connectOnce().catch(() => undefined)
      this.#wire = undefined
      this.#standing = 'waiting'
      if (!this.#closed) await this.#options.clock.sleep(retryMs)
    }
  }

  /** Resolves when the connection is over. */
  async #connectOnce(): Promise<void> {
    const { connect, workspace, branch, mode } = this.#options
    const over = Promise.withResolvers<void>()
    const wire = await connect({ onReply: (reply) => this.#handle(reply), onClose: over.resolve })
    if (this.#closed) return wire.close()
    this.#wire = wire
    const [session, seq] = [this.#session, this.#seq]
    wire.send({ type: 'hello', version: sessionVersion, workspace, branch, mode, session, seq })
    await over.promise
  }

  #handle(reply: SessionReply): void {
    switch (reply.type) {
      case 'welcome':
        return this.#welcome(reply.session, reply.leaseMs)
      case 'receipt':
        return this.#receipt(reply.number, reply.seq)
      case 'refused':
        return this.#refused(reply.number, reply.code, reply.message)
      case 'answer':
        return this.#answered(reply.id)?.resolve(reply.bytes)
      case 'failure':
        return this.#answered(reply.id)?.reject(errorOf(reply.code, reply.message))
      case 'batch':
        return this.#batch(reply.bytes)
      case 'lease':
      case 'shared':
        return this.#stand(reply.type, reply.epoch)
      case 'recall':
        return this.#recall()
      case 'goodbye':
        return this.#wire?.close()
    }
  }

  #welcome(session: string, leaseMs: number): void {
    this.#session = session
    for (const { ask } of this.#asked.values()) this.#wire?.send(ask)
    void this.#renew(this.#wire, leaseMs / 3)
  }

  async #renew(wire: Wire | undefined, everyMs: number): Promise<void> {
    for (;;) {
      await this.#options.clock.sleep(everyMs)
      if (wire === undefined || this.#wire !== wire) return
      wire.send({ type: 'renew' })
    }
  }

  /** With a new standing everything that is on its way is sent again: the server knows what it has. */
  #stand(standing: 'lease' | 'shared', epoch: number): void {
    this.#standing = standing
    this.#epoch = epoch
    this.#recalled = false
    for (const submission of this.#pending.values()) this.#sendSubmission(submission)
  }

  #sendSubmission({ number, body, leaseEpoch }: Submission): void {
    this.#wire?.send({ type: 'submit', number, epoch: leaseEpoch ?? this.#epoch, body })
  }

  #receipt(number: number, seq: number): void {
    this.#take(number)?.settled.resolve({ seq })
    this.#releaseIfDrained()
  }

  #refused(number: number, code: string, message: string): void {
    const submission = this.#pending.get(number)
    if (!submission) return
    // Not acknowledged to anybody: it waits for the next standing and is sent again.
    if (code === 'stale_epoch' && submission.leaseEpoch === undefined)
      return this.#wire?.send({ type: 'renew' })
    this.#take(number)
    if (code === 'stale_epoch') this.#lateness(submission)
    else submission.settled.reject(errorOf(code, message))
    this.#releaseIfDrained()
  }

  #lateness(submission: Submission): void {
    this.#late.push(submission)
    const more = [...this.#pending.values()].some(
      ({ leaseEpoch }) => leaseEpoch === submission.leaseEpoch,
    )
    if (!more) void this.#rescue(submission.leaseEpoch!)
  }

  /** In order, each once: the layer knows the numbers. The last question asks for a commit. */
  async #rescue(epoch: number): Promise<void> {
    const late = this.#late.sort((a, b) => a.number - b.number).splice(0)
    for (const { number, body } of late) await this.ask({ type: 'rescue', number, epoch, body })
    const outcome = await this.ask({ type: 'rescue', number: 0, epoch, body: new Uint8Array() })
    const where = new TextDecoder().decode(outcome)
    this.#options.onRescue?.(where)
    const error = new CairnError('stale_epoch', {
      message: `cannot write under a lost lease: ${where}`,
    })
    for (const { settled } of late) settled.reject(error)
  }

  #batch(bytes: Uint8Array): void {
    this.#seq = decodeBatch(bytes).seq
    this.#options.onBatch?.(bytes)
  }

  /** No more acknowledging; once everything that was acknowledged is receipted, the lease goes back. */
  #recall(): void {
    this.#recalled = true
    this.#standing = 'waiting'
    for (const submission of this.#acknowledged()) this.#sendSubmission(submission)
    this.#releaseIfDrained()
  }

  #releaseIfDrained(): void {
    if (!this.#recalled || this.#acknowledged().length > 0) return
    this.#recalled = false
    this.#wire?.send({ type: 'released' })
  }

  #acknowledged(): readonly Submission[] {
    return [...this.#pending.values()].filter(({ leaseEpoch }) => leaseEpoch !== undefined)
  }

  #take(number: number): Submission | undefined {
    const submission = this.#pending.get(number)
    this.#pending.delete(number)
    return submission
  }

  #answered(id: number): PromiseWithResolvers<Uint8Array> | undefined {
    const asked = this.#asked.get(id)
    this.#asked.delete(id)
    return asked?.answered
  }
}

function errorOf(code: string, message: string): Error {
  if (code in errnoTable) return new FsError(code as Errno)
  return new CairnError(code in errorTable ? (code as ErrorCode) : 'internal', { message })
}
