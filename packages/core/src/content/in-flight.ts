/**
 * Work that goes on beside its caller, so much at a time. What fails is told to whoever adds or waits next: by then it
 * may long have ended, with nobody waiting for it.
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
