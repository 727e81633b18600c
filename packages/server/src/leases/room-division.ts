import { type Limits, noUsage, type Usage } from '@cairn/core'
import { FewAtOnce } from '@cairn/protocol'

/** A session that acknowledges by room that it was promised. */
export interface RoomHolder {
  /** Resolves when it counts on none, and the log has what it acknowledged by it. */
  giveBack(): Promise<void>
  /** It may count on some again. */
  tell(): void
}

/** A client that needs room. */
export interface Taker {
  /** Set for one that holds some itself. */
  readonly by: RoomHolder | undefined
  /** Those that hold the rest. */
  readonly others: () => readonly RoomHolder[]
  /** Whether the error says that there was too little for it. */
  readonly isShort: (error: unknown) => boolean
}

/**
 * Room of a quota or a budget that several holders acknowledge by, each within its share. One that runs dry draws from
 * what is free, as every other client does. Only where that is too little all give their shares back, and get new ones of what
 * is left then. So a change is refused only when the room is used up.
 */
export class RoomDivision {
  readonly #line = new FewAtOnce(1)
  #isGathering = false
  #taker: RoomHolder | undefined
  #gathered = 0

  /** Whether the holder may be promised room now. */
  mayHold(holder: RoomHolder): boolean {
    return !this.#isGathering || holder === this.#taker
  }

  /** How often all shares were asked back. */
  get gathered(): number {
    return this.#gathered
  }

  async whenRoom<T>(taker: Taker, attempt: () => Promise<T>): Promise<T> {
    const isOver = (error: unknown): boolean => !taker.isShort(error) || taker.others().length === 0
    try {
      return await attempt()
    } catch (error) {
      if (isOver(error)) throw error
    }
    return this.#line.pass(async () => {
      try {
        // The one before may have left enough.
        if (this.#gathered > 0) return await attempt()
      } catch (error) {
        if (isOver(error)) throw error
      }
      return this.#gather(taker, attempt)
    })
  }

  async #gather<T>({ by, others }: Taker, attempt: () => Promise<T>): Promise<T> {
    this.#isGathering = true
    this.#taker = by
    this.#gathered++
    const asked = others()
    try {
      await Promise.all(asked.map((holder) => holder.giveBack()))
      return await attempt()
    } finally {
      this.#isGathering = false
      for (const holder of asked) holder.tell()
      by?.tell()
    }
  }
}

/**
 * What a holder may count on: what it has, and of what is free as much as makes that one of so many equal parts. What
 * nothing limits is not counted.
 */
export function shareOf(
  { held, free, left }: { readonly held: Usage; readonly free: Usage; readonly left: Limits },
  parts: number,
): Usage {
  const part = (what: keyof Usage): number => {
    if (left[what] === Infinity) return 0
    const missing = Math.floor(left[what] / parts) - held[what]
    return held[what] + Math.max(0, Math.min(free[what], missing))
  }
  return { bytes: part('bytes'), files: part('files') }
}

/** As a session hears it. */
export function toldShare(share: Usage, left: Limits): Limits {
  const told = (what: keyof Usage): number => (left[what] === Infinity ? Infinity : share[what])
  return { bytes: told('bytes'), files: told('files') }
}

export function isNothing({ bytes, files }: Usage): boolean {
  return bytes === noUsage.bytes && files === noUsage.files
}
