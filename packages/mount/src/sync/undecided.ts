import type { Ino } from '@cairn/protocol'
import { Waiting } from './waiting.ts'

/**
 * What the changes concern that the server is deciding for this mount. A change that is acknowledged meanwhile stands
 * behind them in the log, but would be planned here without them. So none is acknowledged that concerns the same: of two
 * programs that make one name each would be told that it had.
 */
export class Undecided {
  readonly #counts = new Map<Ino, number>()
  readonly #waiting = new Waiting()

  /** `inos` are directories, and the file itself, which may have no name. */
  async during<T>(inos: readonly Ino[], decide: () => Promise<T>): Promise<T> {
    for (const ino of inos) this.#counts.set(ino, (this.#counts.get(ino) ?? 0) + 1)
    try {
      return await decide()
    } finally {
      for (const ino of inos) this.#end(ino)
      this.#waiting.wake()
    }
  }

  /** Undefined when no such change concerns them. Otherwise resolves when one of them is decided. */
  whenFewer(inos: () => readonly Ino[]): Promise<void> | undefined {
    if (this.#counts.size === 0) return undefined
    return inos().some((ino) => this.#counts.has(ino)) ? this.#waiting.next() : undefined
  }

  #end(ino: Ino): void {
    const left = this.#counts.get(ino)! - 1
    if (left > 0) this.#counts.set(ino, left)
    else this.#counts.delete(ino)
  }
}
