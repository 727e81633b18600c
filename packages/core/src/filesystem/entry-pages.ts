import type { Ino, Name } from '@cairn/protocol'
import type { NamedDentry, View } from './view.ts'

const entriesAtOnce = 100

/** The entries of a directory one by one, in the order of names, read some at a time. */
export class EntryPages {
  readonly ino: Ino
  readonly #view: View
  #after: Name | undefined
  /** Read, and not yet given. */
  #entries: readonly NamedDentry[] = []
  #next = 0
  #isOver = false

  constructor(view: View, ino: Ino, after?: Name) {
    this.#view = view
    this.ino = ino
    this.#after = after
  }

  /** Undefined at the end, and again after a read that missed a node. */
  next(): NamedDentry | undefined {
    if (this.#next === this.#entries.length && !this.#isOver) this.#read()
    return this.#entries[this.#next++]
  }

  #read(): void {
    this.#entries = []
    this.#next = 0
    this.#isOver = true
    this.#entries = this.#view.entries(this.ino, this.#after, entriesAtOnce)
    this.#after = this.#entries.at(-1)?.name
    this.#isOver = this.#entries.length < entriesAtOnce
  }
}
