/** Those who wait until something has changed. */
export class Waiting {
  readonly #wakes = new Set<() => void>()

  /** Resolves when something may have changed. */
  next(): Promise<void> {
    return new Promise((wake) => this.#wakes.add(wake))
  }

  async until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await this.next()
  }

  wake(): void {
    for (const wake of this.#wakes) wake()
    this.#wakes.clear()
  }
}
