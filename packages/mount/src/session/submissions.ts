import type { Pace } from './pace.ts'

/** What becomes of a submission that is taken. */
export interface Taken {
  readonly seq: number
  /** Whether no other session has to take it in before a program gets its answer. Unknown of what was acknowledged. */
  readonly isShown?: boolean
}

/** Something a session was given to submit, until it is at the server. */
export interface PendingSubmission {
  readonly number: number
  /** Undefined while its place is taken and what will stand there is not complete. */
  readonly body: Uint8Array | undefined
  /** The epoch of the lease under which it was acknowledged before the server saw it; undefined if it was not. */
  readonly leaseEpoch: number | undefined
  readonly settled: PromiseWithResolvers<Taken>
  /** It is empty, and closes the log to lower numbers. */
  readonly closes?: boolean
  /** Why it was refused, while an older copy of it may still be on its way to the log. */
  readonly doubt?: Error
}

/** One that is complete. */
export interface FullSubmission extends PendingSubmission {
  readonly body: Uint8Array
}

/** What a process left unanswered when it ended. */
export interface Unanswered {
  readonly number: number
  readonly body: Uint8Array
  /** The epoch of the lease under which it was acknowledged. */
  readonly epoch: number
}

/** What is on its way, in order of its numbers, and how far each has come. */
export class Submissions {
  readonly #pending = new Map<number, PendingSubmission>()
  /** To be sent. Apart from the others, so that sending one more costs the same however many are in flight. */
  readonly #unsent = new Set<number>()
  /** Sent over this connection and not answered, with the epoch in which it was sent. */
  readonly #inFlight = new Map<number, number>()
  /**
   * Those of them that were sent in an epoch which has ended since, and may need to be sent again.
   */
  readonly #outdated = new Set<number>()
  /** Sent over a connection that broke before there was an answer: that copy may arrive yet. */
  readonly #astray = new Set<number>()
  readonly #pace: Pace
  #epoch = 0
  #lastNumber = 0

  constructor(pace: Pace) {
    this.#pace = pace
  }

  get lastNumber(): number {
    return this.#lastNumber
  }

  get size(): number {
    return this.#pending.size
  }

  add(what: Omit<PendingSubmission, 'number' | 'doubt'>): PendingSubmission {
    const submission = { ...what, number: ++this.#lastNumber }
    this.#pending.set(submission.number, submission)
    this.#unsent.add(submission.number)
    return submission
  }

  /** Goes on where another process ended. Copies of all this may be on their way. */
  restore(lastNumber: number, pending: readonly Unanswered[]): void {
    this.#lastNumber = lastNumber
    for (const { number, body, epoch } of pending.toSorted((a, b) => a.number - b.number)) {
      const settled = Promise.withResolvers<Taken>()
      // There may be no caller waiting for it.
      settled.promise.catch(() => undefined)
      this.#pending.set(number, { number, body, leaseEpoch: epoch, settled })
      this.#unsent.add(number)
      this.#astray.add(number)
    }
  }

  /** What stands at a place that was taken before. */
  complete(number: number, body: Uint8Array): void {
    const submission = this.#pending.get(number)
    if (submission) this.#pending.set(number, { ...submission, body })
  }

  get(number: number): PendingSubmission | undefined {
    return this.#pending.get(number)
  }

  [Symbol.iterator](): IterableIterator<PendingSubmission> {
    return this.#pending.values()
  }

  take(number: number): PendingSubmission | undefined {
    const submission = this.#pending.get(number)
    this.#land(number)
    this.#pending.delete(number)
    this.#unsent.delete(number)
    this.#astray.delete(number)
    return submission
  }

  /** None of them will be answered. */
  failAll(error: unknown): void {
    for (const { number, settled } of this.#pending.values()) {
      this.take(number)
      settled.reject(error)
    }
  }

  /**
   * What may be sent in `epoch`, in order. Never a second copy beside one that is in flight: refused once, it could be
   * taken the second time. Nor anything behind one that was sent in another epoch and may have to go again, or that is
   * not complete: the log takes numbers only as they grow. With `isRecalled` only what was acknowledged, and what closes
   * the log to a number. The rest may concern what another holder has not handed in, and waits for the next standing.
   */
  toSend(
    epoch: number,
    isRecalled = false,
  ): readonly (FullSubmission & { readonly epoch: number })[] {
    this.#enter(epoch)
    const end = Math.min(Infinity, ...this.#outdated)
    const sending: (FullSubmission & { readonly epoch: number })[] = []
    for (const number of [...this.#unsent].sort((a, b) => a - b)) {
      const submission = this.#pending.get(number)!
      if (isRecalled && submission.leaseEpoch === undefined && !submission.closes) continue
      const { leaseEpoch = epoch, body } = submission
      if (number >= end || body === undefined || !this.#pace.send(body.length)) break
      this.#unsent.delete(number)
      this.#inFlight.set(number, leaseEpoch)
      sending.push({ ...submission, body, epoch: leaseEpoch })
    }
    return sending
  }

  /** The epoch in which it went over this connection, if it has no answer yet. */
  sentIn(number: number): number | undefined {
    return this.#inFlight.get(number)
  }

  /** Answered, and to be sent again. */
  sendAgain(number: number): void {
    this.#land(number)
    if (this.#pending.has(number)) this.#unsent.add(number)
  }

  /** Answered with a refusal that may not be the last word. Not sent again before `sendAgain`. */
  holdInDoubt(number: number, doubt: Error): void {
    this.#pending.set(number, { ...this.#pending.get(number)!, doubt })
    this.#land(number)
  }

  #enter(epoch: number): void {
    if (epoch === this.#epoch) return
    this.#epoch = epoch
    for (const [number, sentIn] of this.#inFlight)
      if (sentIn !== (this.#pending.get(number)!.leaseEpoch ?? epoch)) this.#outdated.add(number)
  }

  #land(number: number): void {
    if (this.#inFlight.delete(number))
      this.#pace.answered(this.#pending.get(number)?.body?.length ?? 0)
    this.#outdated.delete(number)
  }

  noteBroken(): void {
    for (const number of this.#inFlight.keys()) {
      this.#astray.add(number)
      this.#unsent.add(number)
    }
    this.#inFlight.clear()
    this.#outdated.clear()
  }

  isAstray(number: number): boolean {
    return this.#astray.has(number)
  }

  /** Whether something acknowledged is not known to be at the server: under any lease, or under that of `epoch`. */
  hasAcknowledged(epoch?: number): boolean {
    for (const { leaseEpoch } of this.#pending.values())
      if (leaseEpoch !== undefined && leaseEpoch === (epoch ?? leaseEpoch)) return true
    return false
  }

  /** Whether something acknowledged under another lease than that of `epoch` is still on its way. */
  hasPast(epoch: number): boolean {
    for (const { leaseEpoch } of this.#pending.values())
      if (leaseEpoch !== undefined) return leaseEpoch !== epoch
    return false
  }
}
