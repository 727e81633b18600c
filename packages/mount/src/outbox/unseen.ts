import type { Ino } from '@cairn/protocol'

/**
 * Own batches that are in the image and were not yet seen in the log. Until then the server may not have them, so what
 * is known of their directories must not be loaded from there.
 */
export class Unseen {
  /** INVARIANT: numbers grow. */
  readonly #directories = new Map<number, ReadonlySet<Ino>>()

  /** `directories` grows with the batch. */
  add(number: number, directories: ReadonlySet<Ino>): void {
    this.#directories.set(number, directories)
  }

  /** The log has that batch; those before it are there, or will never be. False when it was not acknowledged here. */
  take(number: number): boolean {
    const isUnseen = this.#directories.has(number)
    for (const before of this.#directories.keys()) {
      if (before > number) break
      this.#directories.delete(before)
    }
    return isUnseen
  }

  concerns(directory: Ino): boolean {
    for (const directories of this.#directories.values())
      if (directories.has(directory)) return true
    return false
  }
}
