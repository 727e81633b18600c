import type { Ino } from '@cairn/protocol'

/** Thrown where numbers are asked for synchronously and have run out. Refill, then ask again. */
class InodesExhausted {}

const firstCount = 1000

/**
 * A range of inode numbers that belongs to this process alone. Numbers are given once: those that a failed or
 * repeated attempt took are lost, of which 2^53 can bear many.
 */
export class InodeRange {
  readonly #take: (count: number) => Promise<number>
  #next = 0
  #end = 0

  /** `take` reserves that many numbers for good and gives the first. */
  constructor(take: (count: number) => Promise<number>) {
    this.#take = take
  }

  readonly next = (): Ino => {
    if (this.#next === this.#end) throw new InodesExhausted()
    return this.#next++ as Ino
  }

  /**
   * Runs `attempt` until the numbers suffice. Each time there are eight times as many, because all before it was in vain. Not begun without any: an attempt may
   * have to wait for its turn, and would wait twice.
   */
  async supply<T>(attempt: () => Promise<T>): Promise<T> {
    if (this.#next === this.#end) await this.#refill(firstCount)
    for (let count = firstCount; ; count *= 8) {
      try {
        return await attempt()
      } catch (error) {
        if (!(error instanceof InodesExhausted)) throw error
        await this.#refill(count)
      }
    }
  }

  async #refill(count: number): Promise<void> {
    const first = await this.#take(count)
    this.#next = first
    this.#end = first + count
  }
}
