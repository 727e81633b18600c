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
import { rescueAll, rescuedError } from './rescue.ts'
import { type Submission, Submissions } from './submissions.ts'
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
  readonly #pending = new Submissions()
  readonly #asked = new Map<number, Asked>()
  /** Acknowledged, refused because the lease was lost, and not yet in a rescue layer. */
  readonly #late: Submission[] = []
  #wire: Wire | undefined
  #isWelcome = false
  #session = ''
  #seq = 0
  #epoch = 0
  #standing: Standing = 'waiting'
  #recalledIn: number | undefined
  #isRescuing = false
  #lastId = 0
  #closed = false

  constructor(options: SessionOptions) {
    this.#options = options
    void this.#stayConnected()
  }

  get id(): string {
    return this.#session
  }

  /**
   * How it may write now. As long as something that was acknowledged under an earlier lease is on its way to the
   * branch or to a rescue layer, it waits: it could only build on what may turn out to be elsewhere.
   */
  get standing(): Standing {
    const hasPast = this.#late.length > 0 || this.#pending.hasPast(this.#epoch)
    return hasPast ? 'waiting' : this.#standing
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
    if (acknowledged && this.standing !== 'lease')
      throw new CairnError('stale_epoch', {
        message: 'cannot acknowledge: this session has no lease',
      })
    const submission = this.#pending.add({
      body: encodeBody({ type: 'ops', ops }, time),
      leaseEpoch: acknowledged ? this.#epoch : undefined,
      settled: Promise.withResolvers<{ seq: number }>(),
    })
    this.#sendPending()
    return submission.settled.promise
  }

  /** Asks about the branch's head; asked again when the connection breaks. */
  ask(question: Question): Promise<Uint8Array> {
    const id = ++this.#lastId
    const asked = { ask: { ...question, id } as Ask, answered: Promise.withResolvers<Uint8Array>() }
    this.#asked.set(id, asked)
    if (this.#isWelcome) this.#wire?.send(asked.ask)
    return asked.answered.promise
  }

  /** Waits until all that was submitted so far is at the server, in the branch or in a rescue layer. */
  async drain(): Promise<void> {
    const waiting = [...this.#pending, ...this.#late]
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
      this.#forgetConnection()
      if (!this.#closed) await this.#options.clock.sleep(retryMs)
    }
  }

  #forgetConnection(): void {
    this.#wire = undefined
    this.#isWelcome = false
    this.#standing = 'waiting'
    this.#recalledIn = undefined
    this.#pending.noteBroken()
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
        return this.#recall(reply.epoch)
      case 'goodbye':
        return this.#wire?.close()
    }
  }

  #welcome(session: string, leaseMs: number): void {
    this.#session = session
    this.#isWelcome = true
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

  #stand(standing: 'lease' | 'shared', epoch: number): void {
    this.#standing = standing
    this.#epoch = epoch
    this.#recalledIn = undefined
    this.#sendPending()
  }

  /** A lease that is recalled is still this session's, for as long as it takes to hand everything in. */
  #sendPending(): void {
    const wire = this.#wire
    if (!wire || (this.#standing === 'waiting' && this.#recalledIn === undefined)) return
    for (const { number, epoch, body } of this.#pending.toSend(this.#epoch))
      wire.send({ type: 'submit', number, epoch, body })
  }

  #receipt(number: number, seq: number): void {
    this.#pending.take(number)?.settled.resolve({ seq })
    this.#afterAnswer()
  }

  #refused(number: number, code: string, message: string): void {
    const submission = this.#pending.get(number)
    if (!submission) return
    if (code === 'stale_epoch') this.#refusedAsStale(submission)
    else if (code === 'batch_passed_over') this.#passedOver(submission)
    else if (this.#pending.isAstray(number)) this.#doubt(number, errorOf(code, message))
    else this.#pending.take(number)?.settled.reject(errorOf(code, message))
    this.#afterAnswer()
  }

  /** What was acknowledged to nobody is sent again in the next epoch, as soon as this session knows of it. */
  #refusedAsStale(submission: Submission): void {
    if (submission.leaseEpoch !== undefined) return this.#tooLate(submission)
    this.#pending.sendAgain(submission.number)
    this.#wire?.send({ type: 'renew' })
  }

  /** Never in the log under its number: because of the refusal we know of, or of one whose answer was lost. */
  #passedOver(submission: Submission): void {
    const { number, body, leaseEpoch, settled, doubt } = submission
    if (leaseEpoch !== undefined) return this.#tooLate(submission)
    this.#pending.take(number)
    if (doubt) settled.reject(doubt)
    else this.#pending.add({ body, leaseEpoch, settled })
  }

  #tooLate(submission: Submission): void {
    this.#pending.take(submission.number)
    this.#late.push(submission)
  }

  /**
   * A copy of it that was sent over a broken connection may reach the log later and be taken. An empty batch with a
   * higher number closes the log to it; asked once more after that, the server says for certain.
   */
  #doubt(number: number, error: Error): void {
    this.#pending.holdInDoubt(number, error)
    const settled = Promise.withResolvers<{ seq: number }>()
    const body = encodeBody({ type: 'ops', ops: [] }, { sec: 0, nsec: 0 })
    this.#pending.add({ body, leaseEpoch: undefined, settled })
    void settled.promise.then(() => {
      this.#pending.sendAgain(number)
      this.#sendPending()
    })
  }

  #afterAnswer(): void {
    this.#releaseIfDrained()
    this.#sendPending()
    const [first] = this.#late
    if (!first || this.#isRescuing || this.#pending.hasAcknowledged(first.leaseEpoch)) return
    void this.#rescue(first.leaseEpoch!)
  }

  async #rescue(epoch: number): Promise<void> {
    this.#isRescuing = true
    const ask = (question: Question): Promise<Uint8Array> => this.ask(question)
    const pause = (): Promise<void> => this.#options.clock.sleep(retryMs)
    const outcome = await rescueAll({ ask, pause }, epoch, this.#late).then(
      (where) => {
        this.#options.onRescue?.(where)
        return rescuedError(where)
      },
      (error: unknown) => error,
    )
    this.#isRescuing = false
    for (const { settled } of this.#late.splice(0)) settled.reject(outcome)
  }

  #batch(bytes: Uint8Array): void {
    this.#seq = decodeBatch(bytes).seq
    this.#options.onBatch?.(bytes)
  }

  /** No more acknowledging; once everything that was acknowledged is receipted, the lease goes back. */
  #recall(epoch: number): void {
    this.#recalledIn = epoch
    this.#epoch = epoch
    this.#standing = 'waiting'
    this.#sendPending()
    this.#releaseIfDrained()
  }

  #releaseIfDrained(): void {
    const epoch = this.#recalledIn
    if (epoch === undefined || this.#pending.hasAcknowledged()) return
    this.#recalledIn = undefined
    this.#wire?.send({ type: 'released', epoch })
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
