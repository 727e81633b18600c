interface Turn {
  readonly beginMs: number
  readonly endMs: number
  /** The processor time of the loop's thread. */
  readonly cpuMs: number
}

/** In milliseconds. */
export interface Held {
  /** The most processor time in one turn of the loop. */
  readonly mostMs: number
  /** The same without the garbage collector's pauses. */
  readonly ownMs: number
  readonly pauseMs: number
}

/** Shorter ones are forgotten. */
const longMs = 4

/** The turns of an event loop, and which part of them was the garbage collector. */
export class HeldTurns {
  #turns: Turn[] = []
  #pauses: { readonly startTime: number; readonly duration: number }[] = []

  add(turn: Turn): void {
    if (turn.cpuMs > longMs) this.#turns.push(turn)
  }

  addPauses(pauses: readonly { readonly startTime: number; readonly duration: number }[]): void {
    this.#pauses.push(...pauses)
  }

  /** Since it was last asked. */
  take(): Held {
    const most = (figures: readonly number[]): number => figures.reduce((a, b) => Math.max(a, b), 0)
    const held = {
      mostMs: most(this.#turns.map(({ cpuMs }) => cpuMs)),
      ownMs: most(this.#turns.map((turn) => turn.cpuMs - this.#pausedIn(turn))),
      pauseMs: most(this.#pauses.map(({ duration }) => duration)),
    }
    this.#turns = []
    this.#pauses = []
    return held
  }

  #pausedIn({ beginMs, endMs }: Turn): number {
    let pausedMs = 0
    for (const { startTime, duration } of this.#pauses)
      if (startTime >= beginMs && startTime < endMs) pausedMs += duration
    return pausedMs
  }
}
