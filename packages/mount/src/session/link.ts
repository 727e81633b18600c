const freshMs = 1000
const probeMs = 2000

/** What can be asked whether it is there. */
interface Pingable {
  ping(): void
}

/** What is known of the way to the server, by what comes back over it: an open connection says nothing about that. */
export class ServerLink {
  #socket: Pingable | undefined
  #heardAt = performance.now()
  #failure: string | undefined
  readonly #waiting = new Set<() => void>()

  /** How long nothing has been heard from the server. */
  get silentMs(): number {
    return Math.round(performance.now() - this.#heardAt)
  }

  /** Why there was no connection the last time; undefined once the server has answered. */
  get failure(): string | undefined {
    return this.#failure
  }

  opened(socket: Pingable): void {
    this.#socket = socket
  }

  closed(socket: Pingable): void {
    if (this.#socket === socket) this.#socket = undefined
  }

  heard(): void {
    this.#heardAt = performance.now()
    this.#failure = undefined
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  failed(why: string): void {
    this.#failure = why
  }

  /** Whether the server answers now. Asks it only if nothing was heard lately. */
  async probe(): Promise<boolean> {
    if (this.silentMs < freshMs) return true
    if (!this.#socket) return false
    const answered = new Promise<boolean>((resolve) => {
      this.#waiting.add(() => resolve(true))
      setTimeout(resolve, probeMs, false).unref()
    })
    this.#socket.ping()
    return answered
  }
}
