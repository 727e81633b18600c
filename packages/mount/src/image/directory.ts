import type { Dentry } from '@cairn/core'
import type { Name } from '@cairn/protocol'

interface Slot extends Dentry {
  readonly position: number
}

/** A name in a directory, and where a listing goes on after it. */
export interface Listed extends Dentry {
  readonly name: Name
  readonly position: number
}

/** `.` and `..` come first. */
const firstPosition = 3

/**
 * All names of a directory. A name keeps its position for as long as it is there, and positions only grow: a listing
 * in pieces, with names coming and going between them, shows every name that stayed, once.
 */
export class Directory {
  readonly #slots = new Map<Name, Slot>()
  /** In order of position; undefined where a name was taken away. */
  #names: (Name | undefined)[] = []
  #positions: number[] = []
  #lastPosition = firstPosition - 1

  get size(): number {
    return this.#slots.size
  }

  get(name: Name): Dentry | undefined {
    return this.#slots.get(name)
  }

  /** A name that stays but leads elsewhere keeps its position. */
  set(name: Name, { ino, kind }: Dentry): void {
    const position = this.#slots.get(name)?.position
    if (position !== undefined) {
      this.#slots.set(name, { ino, kind, position })
      return
    }
    this.#slots.set(name, { ino, kind, position: ++this.#lastPosition })
    this.#names.push(name)
    this.#positions.push(this.#lastPosition)
  }

  delete(name: Name): void {
    const slot = this.#slots.get(name)
    if (!slot) return
    this.#slots.delete(name)
    this.#names[this.#after(slot.position - 1)] = undefined
    if (this.#names.length > 64 && this.#names.length > 2 * this.#slots.size) this.#compact()
  }

  /** The names after a position, in order. */
  *after(position: number): Generator<Listed> {
    for (let index = this.#after(position); index < this.#names.length; index++) {
      const name = this.#names[index]
      if (name === undefined) continue
      yield { name, ...this.#slots.get(name)! }
    }
  }

  *[Symbol.iterator](): Generator<Listed> {
    yield* this.after(0)
  }

  /** The first index whose position is greater. */
  #after(position: number): number {
    let low = 0
    let high = this.#positions.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#positions[middle]! <= position) low = middle + 1
      else high = middle
    }
    return low
  }

  #compact(): void {
    const slots = [...this.#slots].sort(([, a], [, b]) => a.position - b.position)
    this.#names = slots.map(([name]) => name)
    this.#positions = slots.map(([, { position }]) => position)
  }
}
