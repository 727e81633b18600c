import type { Ino, SessionId } from '@cairn/protocol'
import type { Clock } from '../ports/clock.ts'

/** So long after another client's change, no session gets the directory. */
const contestedMs = 300

interface Change {
  /** The last client that changed it. Undefined: one without a session. */
  readonly by: SessionId | undefined
  readonly atMs: number
  /** When another client than that one last did. */
  readonly otherAtMs: number
}

/** Who changed which directory just now, of the changes that the server decided. */
export class RecentChanges {
  readonly #clock: Clock
  /** In the order of their times, so that the old ones come first. */
  readonly #changes = new Map<Ino, Change>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  note(by: SessionId | undefined, inos: Iterable<Ino>): void {
    const atMs = this.#clock.nowMs()
    for (const ino of inos) {
      const before = this.#changes.get(ino)
      const isSame = before && before.by === by && by !== undefined
      const otherAtMs = (isSame ? before.otherAtMs : before?.atMs) ?? -Infinity
      this.#changes.delete(ino)
      this.#changes.set(ino, { by, atMs, otherAtMs })
    }
    for (const [ino, change] of this.#changes) {
      if (change.atMs > atMs - contestedMs) break
      this.#changes.delete(ino)
    }
  }

  /** Whether another client is at work there. */
  isContested(session: SessionId, inos: readonly Ino[]): boolean {
    const sinceMs = this.#clock.nowMs() - contestedMs
    return inos.some((ino) => {
      const change = this.#changes.get(ino)
      if (!change) return false
      return (change.by === session ? change.otherAtMs : change.atMs) > sinceMs
    })
  }
}
