/** Something a session was given to submit, until it is at the server. */
export interface Submission {
  readonly number: number
  readonly body: Uint8Array
  /** The epoch of the lease under which it was acknowledged before the server saw it; undefined if it was not. */
  readonly leaseEpoch: number | undefined
  readonly settled: PromiseWithResolvers<{ seq: number }>
  /** Why it was refused, while an older copy of it may still be on its way to the log. */
  readonly doubt?: Error
}

/** What is on its way, in order of its numbers, and how far each has come. */
export class Submissions {
  readonly #pending = new Map<number, Submission>()
  /** Sent over this connection and not answered, with the epoch in which it was sent. */
  readonly #inFlight = new Map<number, number>()
  /** Sent over a connection that broke before there was an answer: that copy may arrive yet. */
  readonly #astray = new Set<number>()
  /** Not to be sent before something else is answered. */
  readonly #held = new Set<number>()
  #lastNumber = 0

  get size(): number {
    return this.#pending.size
  }

  add(what: Omit<Submission, 'number' | 'doubt'>): Submission {
    const submission = { ...what, number: ++this.#lastNumber }
    this.#pending.set(submission.number, submission)
    return submission
  }

  get(number: number): Submission | undefined {
    return this.#pending.get(number)
  }

  [Symbol.iterator](): IterableIterator<Submission> {
    return this.#pending.values()
  }

  take(number: number): Submission | undefined {
    const submission = this.#pending.get(number)
    for (const set of [this.#pending, this.#inFlight, this.#astray, this.#held]) set.delete(number)
    return submission
  }

  /**
   * What may be sent in `epoch`, in order. Never a second copy beside one that is in flight: refused once, it could be
   * taken the second time. Nor anything behind one that was sent in another epoch and may have to go again.
   */
  *toSend(epoch: number): Iterable<Submission & { readonly epoch: number }> {
    for (const submission of [...this.#pending.values()]) {
      const { number, leaseEpoch = epoch } = submission
      const sentIn = this.#inFlight.get(number)
      if (sentIn !== undefined && sentIn !== leaseEpoch) return
      if (sentIn !== undefined || this.#held.has(number)) continue
      this.#inFlight.set(number, leaseEpoch)
      yield { ...submission, epoch: leaseEpoch }
    }
  }

  /** Answered, and to be sent again. */
  sendAgain(number: number): void {
    this.#inFlight.delete(number)
    this.#held.delete(number)
  }

  holdInDoubt(number: number, doubt: Error): void {
    this.#pending.set(number, { ...this.#pending.get(number)!, doubt })
    this.#inFlight.delete(number)
    this.#held.add(number)
  }

  noteBroken(): void {
    for (const number of this.#inFlight.keys()) this.#astray.add(number)
    this.#inFlight.clear()
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
