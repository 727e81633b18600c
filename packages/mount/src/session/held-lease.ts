/**
 * The lease a session was last told of. It outlives the connection: nobody else is let in before it ran out, and then
 * what was acknowledged under it is rescued. It ends when the session hands it back or hears that it is over.
 */
export class HeldLease {
  #epoch: number | undefined
  #isRecalled = false

  get epoch(): number | undefined {
    return this.#epoch
  }

  /** Undefined when nothing more may be acknowledged under it. */
  get usableEpoch(): number | undefined {
    return this.#isRecalled ? undefined : this.#epoch
  }

  /** A recall is for good: told of the same lease again, it stays recalled. */
  grant(epoch: number): void {
    if (epoch === this.#epoch) return
    this.#epoch = epoch
    this.#isRecalled = false
  }

  recall(epoch: number): void {
    this.#epoch = epoch
    this.#isRecalled = true
  }

  end(): void {
    this.#epoch = undefined
    this.#isRecalled = false
  }
}
