import type { Hash } from '@cairn/protocol'

/** Where bytes come from: at hand, or a range of a stored blob. */
export type Source =
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }
  | {
      readonly type: 'blob'
      readonly id: Hash
      readonly blobLength: number
      readonly start: number
    }

/** A written range. Without a source it is a hole. */
export interface Extent {
  readonly offset: number
  readonly length: number
  readonly source: Source | undefined
}

/**
 * Ranges written since the last fold.
 * INVARIANT: sorted by offset, no overlap, none empty. What no extent covers is as it was folded.
 *
 * A list never changes once made. Appending shares the array with the older list, which sees only its own
 * `length` of it: a log file that grows by a thousand lines does not copy a thousand lists.
 */
export class Extents {
  // `this` and not the class's name, which TypeScript 7.0 compiles to a variable that it never sets.
  static readonly none: Extents = new this([], 0)

  readonly #array: Extent[]
  readonly length: number

  private constructor(array: Extent[], length: number) {
    this.#array = array
    this.length = length
  }

  at(index: number): Extent {
    return this.#array[index]!
  }

  /** The first extent that ends after `offset`. */
  firstAfter(offset: number): number {
    let low = 0
    let high = this.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const extent = this.#array[middle]!
      if (extent.offset + extent.length <= offset) low = middle + 1
      else high = middle
    }
    return low
  }

  write(extent: Extent): Extents {
    if (extent.length === 0) return this
    const last = this.length > 0 ? this.at(this.length - 1) : undefined
    if (!last || last.offset + last.length <= extent.offset) return this.#append(extent)
    const first = this.firstAfter(extent.offset)
    const end = extent.offset + extent.length
    const before = this.#array.slice(0, first)
    const after: Extent[] = []
    let index = first
    for (; index < this.length && this.at(index).offset < end; index++) {
      const old = this.at(index)
      if (old.offset < extent.offset) before.push(cut(old, old.offset, extent.offset))
      if (old.offset + old.length > end) after.push(cut(old, end, old.offset + old.length))
    }
    const array = [...before, extent, ...after, ...this.#array.slice(index, this.length)]
    return new Extents(array, array.length)
  }

  /** Drops everything at and after `size`. */
  truncate(size: number): Extents {
    const index = this.firstAfter(size)
    if (index === this.length) return this
    const kept = this.#array.slice(0, index)
    const last = this.at(index)
    if (last.offset < size) kept.push(cut(last, last.offset, size))
    return new Extents(kept, kept.length)
  }

  /** What was appended to `older` since; undefined when this list did not grow out of it that way. */
  since(older: Extents): Extents | undefined {
    if (older.length > this.length) return undefined
    for (let i = 0; i < older.length; i++) if (this.at(i) !== older.at(i)) return undefined
    const added = this.#array.slice(older.length, this.length)
    return added.length === 0 ? Extents.none : new Extents(added, added.length)
  }

  #append(extent: Extent): Extents {
    // `none` belongs to everyone; its array must stay empty.
    if (this === Extents.none) return new Extents([extent], 1)
    const array =
      this.#array.length === this.length ? this.#array : this.#array.slice(0, this.length)
    array.push(extent)
    return new Extents(array, this.length + 1)
  }
}

/** The part of an extent from `start` to `end` (file offsets). */
export function cut(extent: Extent, start: number, end: number): Extent {
  return {
    offset: start,
    length: end - start,
    source: sourceAfter(extent.source, start - extent.offset, end - start),
  }
}

function sourceAfter(source: Source | undefined, skip: number, length: number): Source | undefined {
  if (!source) return undefined
  if (source.type === 'bytes')
    return { type: 'bytes', bytes: source.bytes.subarray(skip, skip + length) }
  return { ...source, start: source.start + skip }
}
