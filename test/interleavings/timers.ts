interface Timer {
  readonly atMs: number
  readonly run: () => void
}

/** The clock of one process. Time passes when its next timer is chosen, and at no other moment. */
export class Timers {
  #timers: Timer[] = []
  nowMs = 0

  after(ms: number, run: () => void): void {
    const timer = { atMs: this.nowMs + Math.max(0, ms), run }
    const place = this.#timers.findIndex(({ atMs }) => atMs > timer.atMs)
    this.#timers.splice(place < 0 ? this.#timers.length : place, 0, timer)
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve))
  }

  /** Whether one is due so soon. */
  isDueWithin(ms: number): boolean {
    return (this.#timers[0]?.atMs ?? Infinity) <= this.nowMs + ms
  }

  fire(): void {
    const timer = this.#timers.shift()!
    this.nowMs = Math.max(this.nowMs, timer.atMs)
    timer.run()
  }
}
