/** How far this mount has taken in the branch's log: the image first, then the kernel's caches. */
export class LogPosition {
  #seq = 0
  #settledSeq = 0
  readonly #reaching: { readonly seq: number; readonly wake: () => void }[] = []
  readonly #settling = new Set<() => void>()

  /** The image has taken in the log up to here. */
  get seq(): number {
    return this.#seq
  }

  /** Up to here the kernel has forgotten what changed. The next process looks again at what comes later. */
  get settledSeq(): number {
    return this.#settledSeq
  }

  advance(seq: number): void {
    this.#seq = Math.max(this.#seq, seq)
    for (let i = this.#reaching.length - 1; i >= 0; i--)
      if (this.#reaching[i]!.seq <= this.#seq) this.#reaching.splice(i, 1)[0]!.wake()
  }

  settle(seq: number): void {
    this.#settledSeq = Math.max(this.#settledSeq, seq)
    for (const wake of this.#settling) wake()
    this.#settling.clear()
  }

  /** Resolves when the image has the log up to `seq`. */
  async whenReached(seq: number): Promise<void> {
    if (seq > this.#seq) await new Promise<void>((wake) => this.#reaching.push({ seq, wake }))
  }

  /** Resolves when the kernel has forgotten what changed up to `seq`. */
  async whenSettled(seq: number): Promise<void> {
    while (this.#settledSeq < seq) await new Promise<void>((wake) => this.#settling.add(wake))
  }
}
