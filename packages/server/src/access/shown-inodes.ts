import type { Ino } from '@cairn/protocol'

const sessionsMax = 500
const inodesMax = 2_000_000

/** What the sessions of tokens were shown, also while they are away: a mount that reconnects has open what it had open. */
class ShownInodes {
  /** The longest unasked first. */
  readonly #sets = new Map<string, Set<Ino>>()

  /** For one session; forgotten where many others came since. */
  of(session: string): Set<Ino> {
    const own = this.#sets.get(session) ?? new Set<Ino>()
    this.#sets.delete(session)
    let count = 0
    for (const { size } of this.#sets.values()) count += size
    for (const [id, { size }] of this.#sets) {
      if (this.#sets.size < sessionsMax && count <= inodesMax) break
      this.#sets.delete(id)
      count -= size
    }
    this.#sets.set(session, own)
    return own
  }
}

/** Session ids are unique, so there is one of these. */
export const shownInodes: ShownInodes = new ShownInodes()
