import type { Ino } from '@cairn/protocol'

/**
 * Directories that clients look into or change just now, and directories that holders claim. Looks and changes go
 * first: a claim of a directory in use fails, and one that begins to be used ends the claim. If the claim went first, it
 * could wait for a session whose kernel waits for that very change. Of two claims the first goes on.
 */
export class InUse {
  readonly #uses = new Map<Ino, number>()
  readonly #claims = new Map<Ino, Claim>()

  get isBusy(): boolean {
    return this.#uses.size > 0
  }

  begin(inos: readonly Ino[]): void {
    for (const ino of inos) {
      this.#uses.set(ino, (this.#uses.get(ino) ?? 0) + 1)
      this.#claims.get(ino)?.end()
    }
  }

  end(inos: readonly Ino[]): void {
    for (const ino of inos) {
      const left = this.#uses.get(ino)! - 1
      if (left > 0) this.#uses.set(ino, left)
      else this.#uses.delete(ino)
    }
  }

  /** Undefined where the claim fails. */
  claim(inos: readonly Ino[]): Claim | undefined {
    if (inos.some((ino) => this.#uses.has(ino) || this.#claims.has(ino))) return undefined
    const claim = new Claim(() => {
      for (const ino of inos) this.#claims.delete(ino)
    })
    for (const ino of inos) this.#claims.set(ino, claim)
    return claim
  }
}

/** A claim in progress. Until it is released no other one of its directories begins. */
export class Claim {
  readonly release: () => void
  readonly #ended = Promise.withResolvers<void>()
  /** False as soon as a look or a change concerns one of its directories. */
  isInForce = true

  constructor(release: () => void) {
    this.release = release
  }

  get ended(): Promise<void> {
    return this.#ended.promise
  }

  end(): void {
    this.isInForce = false
    this.#ended.resolve()
  }
}
