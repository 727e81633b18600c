import type { Ino } from '@cairn/protocol'

/** Some directories, or all but some: what is true of most need not be listed. */
export class DirectorySet {
  #isAll: boolean
  /** Those in the set, or with `#isAll` those that are not. */
  readonly #listed = new Set<Ino>()

  constructor(isAll: boolean) {
    this.#isAll = isAll
  }

  /** Whether it has those that are not listed. */
  get hasRest(): boolean {
    return this.#isAll
  }

  /** Those in the set, or those not in it if it has the rest. */
  get listed(): ReadonlySet<Ino> {
    return this.#listed
  }

  /** All of them. */
  get isFull(): boolean {
    return this.#isAll && this.#listed.size === 0
  }

  /** How much memory it takes, counted in directories. */
  get listedCount(): number {
    return this.#listed.size
  }

  has(ino: Ino): boolean {
    return this.#listed.has(ino) !== this.#isAll
  }

  add(ino: Ino): void {
    if (this.#isAll) this.#listed.delete(ino)
    else this.#listed.add(ino)
  }

  delete(ino: Ino): void {
    if (this.#isAll) this.#listed.add(ino)
    else this.#listed.delete(ino)
  }

  fill(): void {
    this.#isAll = true
    this.#listed.clear()
  }

  clear(): void {
    this.#isAll = false
    this.#listed.clear()
  }
}
