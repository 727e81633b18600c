import { DirectorySet } from '@cairn/core'
import type { Ino } from '@cairn/protocol'

/** A session that has looked at nothing for so many changes of others is asked to forget the directory. */
const changesMax = 16
/** So many directories are counted. */
const countedMax = 1000
/** A session that looked into more directories than this is taken to have looked into all. */
const listedMax = 20_000

/**
 * Which directories a session may have cached. A change in one of them is answered when the session shows it; a change
 * in any other one does not wait for the session, which looks at the directory before it shows anything of it.
 */
export class KnownDirectories {
  readonly #cached: DirectorySet
  /** Those that the session is asked to forget, and how many times at once. */
  readonly #leaving = new Map<Ino, number>()
  /** What others changed since the session looked. */
  readonly #changes = new Map<Ino, number>()
  /** It comes back, and still has what it cached before. */
  isUnsure = false

  constructor(isAll: boolean) {
    this.#cached = new DirectorySet(isAll)
  }

  has(ino: Ino): boolean {
    return this.isUnsure || this.#cached.has(ino) || this.#leaving.has(ino)
  }

  fill(): void {
    this.#cached.fill()
  }

  /** The session uses them. */
  noteUsed(inos: readonly Ino[]): void {
    for (const ino of inos) this.#changes.delete(ino)
  }

  /** The session looked at them. */
  add(inos: readonly Ino[]): void {
    for (const ino of inos) this.#cached.add(ino)
    this.noteUsed(inos)
    this.#bound()
  }

  /** To take all of them for cached costs time and no promise. */
  #bound(): void {
    if (this.#cached.listedCount > listedMax) this.#cached.fill()
  }

  /**
   * Has the session forget those of the directories that it has cached. A look that comes after the question counts. They
   * are known until it has: what it does not answer in time may still be cached.
   */
  async forget(
    inos: readonly Ino[],
    ask: (inos: readonly Ino[]) => Promise<boolean>,
  ): Promise<void> {
    const cached = inos.filter((ino) => this.has(ino))
    if (cached.length === 0) return
    for (const ino of cached) {
      this.#cached.delete(ino)
      this.#leaving.set(ino, (this.#leaving.get(ino) ?? 0) + 1)
    }
    this.#bound()
    const areForgotten = await ask(cached)
    for (const ino of cached) {
      this.#left(ino)
      if (!areForgotten) this.#cached.add(ino)
    }
  }

  #left(ino: Ino): void {
    const others = this.#leaving.get(ino)! - 1
    if (others > 0) this.#leaving.set(ino, others)
    else this.#leaving.delete(ino)
  }

  /** Another client changed something in these. Gives those that the session seems not to use any more. */
  noteChanged(inos: readonly Ino[]): readonly Ino[] {
    return inos.filter((ino) => {
      if (!this.#cached.has(ino)) return false
      const changes = (this.#changes.get(ino) ?? 0) + 1
      if (this.#changes.size >= countedMax) this.#changes.clear()
      this.#changes.set(ino, changes)
      if (changes < changesMax) return false
      this.#changes.delete(ino)
      return true
    })
  }
}
