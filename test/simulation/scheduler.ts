interface Event {
  readonly timeMs: number
  readonly order: number
  readonly run: () => void
}

/**
 * Owns all time of a simulated world. Nothing happens but what stands in its queue; after each event everything
 * that became runnable runs to its end before the next one. So one seed is one story.
 */
export class Scheduler {
  readonly #heap: Event[] = []
  #nowMs = 0
  #order = 0
  #events = 0

  get nowMs(): number {
    return this.#nowMs
  }

  get events(): number {
    return this.#events
  }

  after(ms: number, run: () => void): void {
    this.#heap.push({ timeMs: this.#nowMs + Math.max(0, ms), order: this.#order++, run })
    this.#rise(this.#heap.length - 1)
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve))
  }

  /** Runs until the fact holds; false when `limitMs` of the world's time are over before. */
  async run(fact: () => boolean, limitMs: number): Promise<boolean> {
    const endMs = this.#nowMs + limitMs
    await drainMicrotasks()
    while (!fact()) {
      const next = this.#heap[0]
      if (!next || next.timeMs > endMs) return false
      this.#take()
      this.#nowMs = next.timeMs
      this.#events++
      next.run()
      await drainMicrotasks()
    }
    return true
  }

  #take(): void {
    const last = this.#heap.pop()!
    if (this.#heap.length === 0) return
    this.#heap[0] = last
    this.#sink()
  }

  #rise(from: number): void {
    for (let at = from; at > 0;) {
      const above = (at - 1) >> 1
      if (!this.#swapIfEarlier(at, above)) return
      at = above
    }
  }

  #sink(): void {
    for (let at = 0; ;) {
      const left = 2 * at + 1
      if (left >= this.#heap.length) return
      const right = left + 1
      const child =
        right < this.#heap.length && isEarlier(this.#heap[right]!, this.#heap[left]!) ? right : left
      if (!this.#swapIfEarlier(child, at)) return
      at = child
    }
  }

  #swapIfEarlier(below: number, above: number): boolean {
    const [lower, upper] = [this.#heap[below]!, this.#heap[above]!]
    if (!isEarlier(lower, upper)) return false
    this.#heap[below] = upper
    this.#heap[above] = lower
    return true
  }
}

function isEarlier(a: Event, b: Event): boolean {
  return a.timeMs === b.timeMs ? a.order < b.order : a.timeMs < b.timeMs
}

/** Node runs every microtask, however deep they nest, before the next immediate. */
function drainMicrotasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
