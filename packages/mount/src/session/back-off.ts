/** For a server that cannot be reached, or says no. */
const away = { firstMs: 200, lastMs: 5000 } as const
/** For a link that breaks: it may be up again at once, and not for long. */
const broken = { firstMs: 50, lastMs: 500 } as const

/** How long to wait before trying again: longer each time, and not all at the same moment. */
export class BackOff {
  readonly #random: () => number
  #tries = 0

  constructor(random: () => number) {
    this.#random = random
  }

  /** `why`: what ended the last try; undefined where the connection ended without a reason. */
  next(why: unknown): number {
    const { firstMs, lastMs } = isBreak(why) ? broken : away
    const ms = Math.min(lastMs, firstMs * 2 ** this.#tries)
    this.#tries++
    return ms * (0.5 + this.#random() / 2)
  }

  reset(): void {
    this.#tries = 0
  }
}

/** Whether the connection was cut, also while it was being made. */
function isBreak(why: unknown): boolean {
  const { code } = (why ?? {}) as NodeJS.ErrnoException
  return why === undefined || code === 'ECONNRESET' || code === 'EPIPE'
}
