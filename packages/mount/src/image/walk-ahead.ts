/** A program that walks misses the next directory as soon as it has seen one. */
const pauseMs = 100
/** Entries that come with the second directory of a walk. */
const firstEntries = 64
/** More make the program wait for the answer. */
const entriesMax = 10_000

/** How much to load with a directory that is missed: nothing for a single look, and more and more for a walk. */
export class WalkAhead {
  #entries = 0
  #endedMs = -Infinity

  /** How many entries below a directory are to come with it, when it is missed now. */
  next(nowMs: number): number {
    if (nowMs - this.#endedMs > pauseMs) this.#entries = 0
    const entries = this.#entries
    this.#entries = Math.min(entriesMax, entries === 0 ? firstEntries : 2 * entries)
    return entries
  }

  /** A directory was loaded. */
  end(nowMs: number): void {
    this.#endedMs = nowMs
  }
}
