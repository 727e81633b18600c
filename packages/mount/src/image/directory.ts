import type { Dentry } from '@cairn/core'
import type { Name } from '@cairn/protocol'

/** A name in a directory, and where a listing goes on after it. */
export interface Listed extends Dentry {
  readonly name: Name
  readonly position: number
}

interface Slot extends Listed {
  position: number
  /** A listing may have shown the position: it stays. */
  isPlaced: boolean
}

/**
 * All names of a directory. The position of a name in a listing is a hash of the name, as on ext4. So a listing in
 * pieces, with names coming and going between them, shows every name that stayed, once. And it ends, however often names
 * are renamed, because a name that comes back has the position it had, also after a restart of the daemon.
 */
export class Directory {
  readonly #positionOf: (name: Name) => number
  readonly #slots = new Map<Name, Slot>()
  /** When it was used last, by the image's clock. */
  usedAt = 0
  /** It was looked into, and not only loaded. */
  isUsed = false
  /** Names that the kernel was told are not there. */
  readonly absent: Set<Name> = new Set()
  /**
   * INVARIANT: positions grow strictly. What was taken away stays here for a while; what was added is in `#added` until
   * a program lists the directory. So nothing is sorted for programs that only make and remove files.
   */
  #ordered: Slot[] = []
  #added: Slot[] = []

  constructor(positionOf: (name: Name) => number = hashPosition) {
    this.#positionOf = positionOf
  }

  get size(): number {
    return this.#slots.size
  }

  get(name: Name): Dentry | undefined {
    return this.#slots.get(name)
  }

  /** A name that stays but leads elsewhere keeps its position. */
  set(name: Name, { ino, kind }: Dentry): void {
    const before = this.#slots.get(name)
    const position = before?.position ?? this.#positionOf(name)
    const slot = { name, ino, kind, position, isPlaced: before?.isPlaced ?? false }
    this.#slots.set(name, slot)
    this.absent.delete(name)
    this.#added.push(slot)
    this.#compact()
  }

  delete(name: Name): void {
    if (this.#slots.delete(name)) this.#compact()
  }

  /** The names after a position, in order. */
  *after(position: number): Generator<Listed> {
    if (this.#added.length > 0) this.#order()
    const ordered = this.#ordered
    for (let index = firstFrom(ordered, position + 1); index < ordered.length; index++) {
      const slot = ordered[index]!
      if (this.#isThere(slot)) yield slot
    }
  }

  /** In any order. */
  [Symbol.iterator](): IterableIterator<Listed> {
    return this.#slots.values()
  }

  readonly #isThere = (slot: Slot): boolean => this.#slots.get(slot.name) === slot

  #order(): void {
    const added = this.#added.filter(this.#isThere).sort((a, b) => a.position - b.position)
    const placed = added.filter(({ isPlaced }) => isPlaced)
    const ordered = merge(this.#ordered.filter(this.#isThere), placed)
    const fresh = added.filter(({ isPlaced }) => !isPlaced)
    let last = -1
    for (const slot of fresh) {
      last = slot.position = firstFree(ordered, Math.max(slot.position, last + 1))
      slot.isPlaced = true
    }
    this.#ordered = merge(ordered, fresh)
    this.#added = []
  }

  #compact(): void {
    const length = this.#ordered.length + this.#added.length
    if (length <= 64 || length <= 2 * this.#slots.size) return
    this.#ordered = this.#ordered.filter(this.#isThere)
    this.#added = this.#added.filter(this.#isThere)
  }
}

/** The first index with that position or a greater one. */
function firstFrom(ordered: readonly Slot[], position: number): number {
  let low = 0
  let high = ordered.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ordered[middle]!.position < position) low = middle + 1
    else high = middle
  }
  return low
}

/** Two names may have the same hash: then the later one gets the next position that is free. */
function firstFree(ordered: readonly Slot[], position: number): number {
  for (let index = firstFrom(ordered, position); ordered[index]?.position === position; index++)
    position++
  return position
}

function merge(ordered: readonly Slot[], added: readonly Slot[]): Slot[] {
  if (ordered.length === 0) return [...added]
  const merged: Slot[] = []
  let next = 0
  for (const slot of ordered) {
    while (next < added.length && added[next]!.position < slot.position) merged.push(added[next++]!)
    merged.push(slot)
  }
  for (; next < added.length; next++) merged.push(added[next]!)
  return merged
}

/** `.` and `..` come first. */
const firstPosition = 3
const [seed, otherSeed] = [0x2c1b3c6d, 0x297a2d39]

/** 52 bits: as many as a number keeps exactly, with room for the next positions. */
function hashPosition(name: Name): number {
  let [a, b] = [seed, otherSeed]
  for (let index = 0; index < name.length; index++) {
    const code = name.charCodeAt(index)
    a = Math.imul(a ^ code, 0x9e3779b1)
    a ^= a >>> 15
    b = Math.imul(b + code, 0x85ebca77)
    b ^= b >>> 13
  }
  return firstPosition + (a >>> 0) * 2 ** 20 + (b >>> 12)
}
