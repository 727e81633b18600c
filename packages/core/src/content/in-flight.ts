/**
 * Work that runs beside its caller, up to a limit at a time. A failure rejects the next `add` or
 * wait: by then the failed work may long have ended, with no caller waiting for it.
 */
export class InFlight {
  readonly #max: number
  readonly #running = new Set<Promise<void>>()
  #failure: { readonly error: unknown } | undefined

  constructor(max: number) {
    this.#max = max
  }

  /** Resolves once there is room for more. */
  async add(work: Promise<void>): Promise<void> {
    const settled: Promise<void> = work
      .catch((error: unknown) => void (this.#failure ??= { error }))
      .finally(() => this.#running.delete(settled))
    this.#running.add(settled)
    if (this.#running.size >= this.#max) await Promise.race(this.#running)
    this.#check()
  }

  async drain(): Promise<void> {
    await Promise.all(this.#running)
    this.#check()
  }

  #check(): void {
    if (this.#failure) throw this.#failure.error
  }
}
