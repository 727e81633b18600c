/**
 * The lease that a session last had. It outlives the connection: no other session gets in before it
 * runs out, and then everything acknowledged under it is rescued. It ends when the session hands it
 * back or learns that it is over.
 */
export class HeldLease {
  #epoch: number | undefined
  #isRecalled = false
  /** The newest in which the session wrote through the server. */
  #sharedEpoch = 0

  noteShared(epoch: number): void {
    this.#sharedEpoch = epoch
  }

  /** A lease begins with an epoch of its own, unless the session joins others that hold already. */
  isNew(epoch: number): boolean | 'joined' {
    if (epoch === this.#epoch) return false
    return epoch === this.#sharedEpoch ? 'joined' : true
  }

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
