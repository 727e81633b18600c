const firstMs = 200
const lastMs = 5000

/** How long to wait before trying again: longer each time, and not all at the same moment. */
export class BackOff {
  readonly #random: () => number
  #ms = firstMs

  constructor(random: () => number) {
    this.#random = random
  }

  next(): number {
    const ms = this.#ms
    this.#ms = Math.min(lastMs, 2 * ms)
    return ms * (0.5 + this.#random() / 2)
  }

  reset(): void {
    this.#ms = firstMs
  }
}
