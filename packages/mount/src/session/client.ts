import { decodeSentBatch, encodeBody, type Op, type Time } from '@cairn/core'
import { CairnError, fromFailure, type Ino, type SessionReply } from '@cairn/protocol'
import { BackOff } from './back-off.ts'
import { greetingOf } from './greeting.ts'
import { HeldLease } from './held-lease.ts'
import { renewing } from './renewing.ts'
import type {
  Reservation,
  SessionEvents,
  SessionOptions,
  Standing,
  Welcome,
  WelcomeReply,
} from './options.ts'
import { Pace } from './pace.ts'
import { inPieces } from './pieces.ts'
import { type SessionQuestion, Questions } from './questions.ts'
import { isFinal } from './is-final.ts'
import { obey } from './obey.ts'
import { Refusals } from './refusals.ts'
import { LateWrites } from './rescue.ts'
import { Submissions, type Taken } from './submissions.ts'
import type { Wire } from './wire.ts'

/**
 * A session that lives longer than its connections. What it was given to submit is sent until it is receipted or
 * refused: in order, exactly once, under the same number however often the network breaks. What was acknowledged and
 * is refused, because the lease was lost meanwhile or for any other reason, goes to a rescue layer.
 */
export class SessionClient {
  readonly #options: SessionOptions
  #events: SessionEvents = {}
  /** Resolves when a server first takes the session in; rejects when none will. */
  readonly welcomed: Promise<Welcome>
  readonly #firstWelcome = Promise.withResolvers<Welcome>()
  readonly #pace = new Pace()
  readonly #pending = new Submissions(this.#pace)
  readonly #questions = new Questions(this.#pace, () => this.wire)
  readonly #backOff: BackOff
  readonly #late: LateWrites
  readonly #refusals: Refusals
  /** The inode at `path` when the session was first welcome. */
  root: Ino | undefined
  /** Why the server ended the connection. */
  #goodbye: Error | undefined
  #wire: Wire | undefined
  #isWelcome = false
  /** As the server calls the session. */
  id = ''
  #seq: number
  #seen = 0
  #epoch = 0
  #standing: Standing = 'waiting'
  /** Over this connection. */
  #hasStood = false
  readonly #lease = new HeldLease()
  /** Asked for over this connection, and to be handed back over it. */
  #recalledIn: number | undefined
  #told = ''
  #closed = false

  constructor(options: SessionOptions) {
    const { resume, startsAtHead, random = Math.random } = options
    this.#options = { ...options, connect: inPieces(options.connect, this.#pace) }
    this.#backOff = new BackOff(random)
    this.#late = new LateWrites((question) => this.ask(question), options.clock)
    this.#refusals = new Refusals({
      pending: this.#pending,
      late: this.#late,
      epoch: () => this.#epoch,
      leaveEpoch: () => this.#leaveEpoch(),
      onSettled: () => this.#afterAnswer(),
      onRefused: (why) => this.#events.onRefused?.(why),
    })
    this.id = resume?.session ?? ''
    // Behind the end of every log: the server says where that is.
    this.#seq = resume?.seq ?? (startsAtHead ? Number.MAX_SAFE_INTEGER : 0)
    if (resume) this.#pending.restore(resume.lastNumber, resume.pending)
    this.welcomed = this.#firstWelcome.promise
    this.welcomed.catch(() => undefined)
  }

  /** Connects, and stays connected until the session is closed. Before, it tells nothing. */
  start(events: SessionEvents = {}): this {
    this.#events = events
    void this.#stayConnected()
    return this
  }

  /** So many bytes are worth gathering for one batch: few after a break, more with each answer. */
  get batchBytes(): number {
    return this.#pace.messageBytes
  }

  /** The newest batch it has been sent. */
  get seq(): number {
    return this.#seq
  }

  /**
   * How it may write now. As long as something that was acknowledged under an earlier lease is on its way to the
   * branch or to a rescue layer, it waits: it could only build on what may turn out to be elsewhere.
   */
  get standing(): Standing {
    const hasPast = this.#late.size > 0 || this.#pending.hasPast(this.#epoch)
    return hasPast ? 'waiting' : this.#standing
  }

  /**
   * Whether it may tell its programs that something is done before the server has seen it. Also while it is cut off:
   * a lease that runs out meanwhile costs a rescue layer, and not the time of those who could not know.
   */
  get canAcknowledge(): boolean {
    const epoch = this.#lease.usableEpoch
    if (epoch === undefined || this.#closed || this.#options.isInDoubt?.()) return false
    return this.#late.size === 0 && !this.#pending.hasPast(epoch)
  }

  /** A server has taken it in, and has not gone since. */
  get isConnected(): boolean {
    return this.#isWelcome
  }

  /** The number of what was submitted last. */
  get lastNumber(): number {
    return this.#pending.lastNumber
  }

  /** Submitted, and not yet at the server. */
  get pendingCount(): number {
    return this.#pending.size + this.#late.size
  }

  /**
   * Resolves once it is at the server. A holder of the lease may acknowledge it at once and says so: then it is
   * never refused, but may end in a rescue layer, which rejects with `stale_epoch`.
   */
  submit(ops: readonly Op[], time: Time, acknowledged = false, toolCall?: string): Promise<Taken> {
    const body = encodeBody({ type: 'ops', ops }, time, toolCall)
    if (acknowledged) {
      const reservation = this.reserve()
      reservation.send(body)
      return reservation.settled
    }
    const settled = Promise.withResolvers<Taken>()
    this.#pending.add({ body, leaseEpoch: undefined, settled })
    this.#sendPending()
    return settled.promise
  }

  /** Takes the next number for what is being acknowledged under the lease. Throws without one. */
  reserve(): Reservation {
    if (!this.canAcknowledge)
      throw new CairnError('stale_epoch', {
        what: 'acknowledge',
        reason: 'this session has no lease',
      })
    return this.reserveUnder(this.leaseEpoch)
  }

  /** The lease that it holds. */
  get leaseEpoch(): number {
    return this.#lease.epoch!
  }

  /** The same for what was acknowledged under that lease before. If the lease is over, it ends in a rescue layer. */
  reserveUnder(epoch: number): Reservation {
    const settled = Promise.withResolvers<Taken>()
    const { number } = this.#pending.add({ body: undefined, leaseEpoch: epoch, settled })
    const send = (body: Uint8Array): void => {
      this.#pending.complete(number, body)
      this.#sendPending()
    }
    return { number, epoch, settled: settled.promise, send }
  }

  /** How one that has no answer yet will be settled. For those of a process that went before. */
  settled(number: number): Promise<Taken> | undefined {
    return this.#pending.get(number)?.settled.promise
  }

  /**
   * Asks about the branch's head; asked again when the connection breaks. With a signal that is aborted, the server is
   * told that it need not wait any longer; it answers all the same.
   */
  ask(question: SessionQuestion, signal?: AbortSignal): Promise<Uint8Array> {
    return this.#questions.ask(question, signal)
  }

  /** The connection, while the server has the session in. */
  get wire(): Wire | undefined {
    return this.#isWelcome ? this.#wire : undefined
  }

  /** Everything up to `seq` has been taken in: neither this session nor what it serves shows anything older. */
  seen(seq: number): void {
    if (seq <= this.#seen) return
    this.#seen = seq
    if (this.#isWelcome) this.#wire?.send({ type: 'seen', seq })
  }

  /** Resolves when the other writers have seen everything up to `seq`, or had a moment to. */
  async barrier(seq: number): Promise<void> {
    await this.ask({ type: 'barrier', seq })
  }

  /** Waits until all that was submitted so far is at the server, in the branch or in a rescue layer. */
  async drain(): Promise<void> {
    const pending = [...this.#pending].map(({ settled }) => settled.promise)
    await Promise.allSettled([...pending, ...this.#late.settled])
  }

  async close(): Promise<void> {
    await this.drain()
    this.#wire?.send({ type: 'bye' })
    this.abandon()
  }

  /** As a killed sandbox does: without a word. */
  abandon(): void {
    this.#closed = true
    this.#wire?.close()
  }

  async #stayConnected(): Promise<void> {
    while (!this.#closed) {
      const why = await this.#connectOnce().catch((error: unknown) => error)
      this.#forgetConnection()
      this.#events.onOver?.(why)
      if (this.root === undefined && isFinal(why)) return this.#fail(why)
      if (!this.#closed) await this.#options.clock.sleep(this.#backOff.next(why))
    }
  }

  /** It was never welcome, and never will be. */
  #fail(error: unknown): void {
    this.#closed = true
    this.#firstWelcome.reject(error)
    this.#questions.failAll(error)
    this.#pending.failAll(error)
  }

  #forgetConnection(): void {
    this.#wire = undefined
    this.#isWelcome = false
    this.#goodbye = undefined
    this.#standing = 'waiting'
    this.#hasStood = false
    this.#recalledIn = undefined
    this.#pending.noteBroken()
    this.#questions.noteBroken()
    this.#pace.noteBroken()
    this.#tellStanding()
  }

  /** Resolves when the connection is over, with the reason if the server gave one. */
  async #connectOnce(): Promise<Error | undefined> {
    const over = Promise.withResolvers<void>()
    const wire = await this.#options.connect({
      onReply: (reply) => this.#handle(reply),
      onClose: over.resolve,
    })
    if (this.#closed) {
      wire.close()
      return undefined
    }
    this.#wire = wire
    wire.send(greetingOf(this.#options, { session: this.id, seq: this.#seq, root: this.root }))
    await over.promise
    return this.#goodbye
  }

  #handle(reply: SessionReply): void {
    this.#take(reply)
    if (this.#pace.takeHolding()) {
      this.#sendPending()
      this.#questions.sendAll()
    }
    this.#tellStanding()
  }

  #tellStanding(): void {
    const told = `${this.standing} ${this.canAcknowledge} ${this.isConnected}`
    if (told === this.#told) return
    this.#told = told
    this.#events.onStanding?.()
  }

  #take(reply: SessionReply): void {
    switch (reply.type) {
      case 'welcome':
        return this.#welcome(reply)
      case 'receipt':
        return this.#receipt(reply.number, { seq: reply.seq, isShown: reply.shown === 1 })
      case 'refused':
        this.#refusals.take(reply.number, reply)
        return this.#afterAnswer()
      case 'answer':
        return this.#questions.take(reply.id)?.resolve(reply.bytes)
      case 'failure':
        return this.#questions.take(reply.id)?.reject(fromFailure(reply))
      case 'batch':
        return this.#batch(reply.bytes)
      case 'own':
        return this.#own(reply.number, reply.seq)
      case 'room':
        return this.#events.onRoom?.(reply)
      case 'within':
        return this.#events.onWithin?.(reply.path)
      case 'lease':
      case 'among':
        return this.#hold(reply.epoch, reply.type === 'lease')
      case 'beside':
      case 'shared':
        return this.#share(reply.epoch, reply.type === 'beside')
      case 'share':
      case 'yield':
      case 'forget': {
        const wire = this.#wire
        return void obey(this.#events, reply, (done) => wire === this.#wire && wire?.send(done))
      }
      case 'recall':
        return this.#recall(reply.epoch)
      case 'goodbye':
        this.#goodbye = fromFailure(reply)
        return this.#wire?.close()
      case 'arrived':
        // `inPieces` has heard it.
        return
    }
  }

  #welcome({ session, seq, epoch, leaseMs, root }: WelcomeReply): void {
    this.id = session
    this.#isWelcome = true
    this.#backOff.reset()
    this.#seq = Math.min(this.#seq, seq)
    this.root ??= root
    // Each lease has its own epoch: in a later epoch it is over, whichever session has the next.
    if (epoch > (this.#lease.epoch ?? epoch)) this.#endLease()
    this.#firstWelcome.resolve({ session, seq, root })
    if (this.#seen > 0) this.#wire?.send({ type: 'seen', seq: this.#seen })
    this.#questions.sendAll()
    const wire = this.#wire!
    void renewing(wire, this.#options.clock, {
      everyMs: leaseMs / 3,
      holds: () => this.#events.holds?.() ?? [],
      isCurrent: () => this.#wire === wire,
    })
  }

  #share(epoch: number, isBeside: boolean): void {
    this.#lease.noteShared(epoch)
    if (!this.#hasStood || isBeside) this.#events.onShared?.(isBeside)
    this.#stand('shared', epoch)
  }

  #hold(epoch: number, isAlone: boolean): void {
    const isNew = this.#lease.isNew(epoch)
    this.#stand('lease', epoch)
    this.#events.onLease?.(isAlone, isNew)
  }

  #stand(standing: 'lease' | 'shared', epoch: number): void {
    this.#hasStood = true
    this.#standing = standing
    this.#epoch = epoch
    this.#recalledIn = undefined
    if (standing === 'shared' || epoch !== this.#lease.epoch) this.#endLease()
    if (standing === 'lease') this.#lease.grant(epoch)
    this.#sendPending()
  }

  #endLease(): void {
    const wasUsable = this.#lease.usableEpoch !== undefined
    this.#lease.end()
    if (wasUsable) this.#events.onRecall?.()
  }

  /** A lease that is recalled is still this session's, for as long as it takes to hand everything in. */
  #sendPending(): void {
    const wire = this.#wire
    if (!wire || (this.#standing === 'waiting' && this.#recalledIn === undefined)) return
    const isRecalled = this.#recalledIn !== undefined
    for (const { number, epoch, body } of this.#pending.toSend(this.#epoch, isRecalled))
      wire.send({ type: 'submit', number, epoch, body })
  }

  #receipt(number: number, taken: Taken): void {
    this.#pending.take(number)?.settled.resolve(taken)
    this.#afterAnswer()
  }

  /** The epoch is over, and the server has not said which is next: what is sent in it now would only be refused. */
  #leaveEpoch(): void {
    if (this.#standing === 'waiting' && this.#recalledIn === undefined) return
    this.#standing = 'waiting'
    this.#recalledIn = undefined
    this.#endLease()
    this.#wire?.send({ type: 'renew' })
  }

  #afterAnswer(): void {
    this.#releaseIfDrained()
    this.#sendPending()
    const { epoch } = this.#late
    if (epoch !== undefined && !this.#pending.hasAcknowledged(epoch)) void this.#rescue()
  }

  async #rescue(): Promise<void> {
    if (!(await this.#late.rescue((where) => this.#events.onRescue?.(where)))) return
    this.#tellStanding()
    this.#afterAnswer()
  }

  #batch(bytes: Uint8Array): void {
    this.#seq = decodeSentBatch(bytes).seq
    this.#events.onBatch?.(bytes)
  }

  /** It is in the log, whether or not its receipt was lost. Who has to be waited for, only the receipt says. */
  #own(number: number, seq: number): void {
    this.#seq = seq
    this.#events.onOwn?.(number, seq)
    if (this.#pending.get(number)?.leaseEpoch !== undefined) this.#receipt(number, { seq })
  }

  /** No more acknowledging; once everything that was acknowledged is receipted, the lease goes back. */
  #recall(epoch: number): void {
    const wasUsable = this.#lease.usableEpoch !== undefined
    this.#recalledIn = epoch
    this.#epoch = epoch
    this.#standing = 'waiting'
    this.#lease.recall(epoch)
    if (wasUsable) this.#events.onRecall?.()
    this.#sendPending()
    this.#releaseIfDrained()
  }

  #releaseIfDrained(): void {
    const epoch = this.#recalledIn
    if (epoch === undefined || this.#pending.hasAcknowledged()) return
    this.#recalledIn = undefined
    this.#lease.end()
    this.#wire?.send({ type: 'released', epoch })
  }
}
