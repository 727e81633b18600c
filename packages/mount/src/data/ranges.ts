import { PagesRead } from './pages-read.ts'
import { ReadAhead } from './read-ahead.ts'

/** Which bytes of a file lie where. */
export interface Range {
  readonly offset: number
  readonly length: number
  readonly source: RangeSource
}

export type RangeSource =
  | { readonly type: 'local'; readonly segment: number; readonly position: number }
  | { readonly type: 'zeros' }
  /** At the server, once it has the operation with that number: copied by reference, no byte was here. */
  | { readonly type: 'server'; readonly after: number }

const zeros: RangeSource = { type: 'zeros' }
const server: RangeSource = { type: 'server', after: 0 }

/**
 * What the mount knows of a file's bytes.
 * INVARIANT: ranges are sorted, do not overlap, none is empty. What none covers is as the server has it up to
 * `serverEnd`, and zeros behind it: what was cut off here and not there yet must not come back.
 */
export class Ranges {
  #ranges: Range[] = []
  #serverEnd: number

  constructor(serverEnd: number) {
    this.#serverEnd = serverEnd
  }

  get serverEnd(): number {
    return this.#serverEnd
  }

  /** Counts up with every change of what is only at the server: what was asked for before must not be believed. */
  version = 0
  readonly pagesRead: PagesRead = new PagesRead()
  readonly readAhead: ReadAhead = new ReadAhead()

  put(offset: number, length: number, source: RangeSource): void {
    if (length === 0) return
    if (source.type === 'server') this.version++
    const ranges = this.#ranges
    const last = ranges.at(-1)
    if (!last || last.offset + last.length <= offset) {
      if (!last || !this.#extend(last, offset, length, source))
        ranges.push({ offset, length, source })
      return
    }
    const { first, end, kept } = this.#cutOut(offset, offset + length)
    const at = kept.findIndex((range) => range.offset > offset)
    kept.splice(at < 0 ? kept.length : at, 0, { offset, length, source })
    ranges.splice(first, end - first, ...kept)
  }

  putZeros(offset: number, length: number): void {
    this.put(offset, length, zeros)
  }

  /** Another client wrote there: the server has the bytes. */
  forget(offset: number, length: number): void {
    const { first, end, kept } = this.#cutOut(offset, offset + length)
    this.#ranges.splice(first, end - first, ...kept)
    this.#serverEnd = Math.max(this.#serverEnd, offset + length)
    this.version++
  }

  truncate(size: number): void {
    const { first, end, kept } = this.#cutOut(size, Infinity)
    this.#ranges.splice(first, end - first, ...kept)
    this.#serverEnd = Math.min(this.#serverEnd, size)
  }

  /** The range as a gapless row. */
  *between(offset: number, end: number): Generator<Range> {
    for (let index = this.#firstAfter(offset); index < this.#ranges.length; index++) {
      const range = this.#ranges[index]!
      if (range.offset >= end) break
      if (range.offset > offset) yield* this.#gap(offset, range.offset)
      const start = Math.max(offset, range.offset)
      offset = Math.min(end, range.offset + range.length)
      yield cut(range, start, offset)
    }
    if (offset < end) yield* this.#gap(offset, end)
  }

  /** Whether something between is only at the server. */
  isElsewhere(offset: number, end: number): boolean {
    for (const { source } of this.between(offset, end)) if (source.type === 'server') return true
    return false
  }
  *#gap(offset: number, end: number): Generator<Range> {
    const known = Math.min(end, Math.max(offset, this.#serverEnd))
    if (known > offset) yield { offset, length: known - offset, source: server }
    if (end > known) yield { offset: known, length: end - known, source: zeros }
  }

  /** Bytes that go on in the file and on the disk are one range: a file written in order stays one. */
  #extend(last: Range, offset: number, length: number, source: RangeSource): boolean {
    if (last.offset + last.length !== offset || !follows(last, source)) return false
    this.#ranges[this.#ranges.length - 1] = { ...last, length: last.length + length }
    return true
  }

  /** What overlaps, and what of it lies outside. */
  #cutOut(offset: number, end: number): { first: number; end: number; kept: Range[] } {
    const first = this.#firstAfter(offset)
    const kept: Range[] = []
    let index = first
    for (; index < this.#ranges.length && this.#ranges[index]!.offset < end; index++) {
      const range = this.#ranges[index]!
      if (range.offset < offset) kept.push(cut(range, range.offset, offset))
      if (range.offset + range.length > end) kept.push(cut(range, end, range.offset + range.length))
    }
    return { first, end: index, kept }
  }

  /** The first range that ends after `offset`. */
  #firstAfter(offset: number): number {
    let low = 0
    let high = this.#ranges.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const range = this.#ranges[middle]!
      if (range.offset + range.length <= offset) low = middle + 1
      else high = middle
    }
    return low
  }
}

function follows(last: Range, source: RangeSource): boolean {
  if (source.type === 'zeros') return last.source.type === 'zeros'
  return (
    source.type === 'local' &&
    last.source.type === 'local' &&
    last.source.segment === source.segment &&
    last.source.position + last.length === source.position
  )
}

function cut(range: Range, start: number, end: number): Range {
  const { source } = range
  const skipped = start - range.offset
  return {
    offset: start,
    length: end - start,
    source:
      source.type === 'local' && skipped > 0
        ? { ...source, position: source.position + skipped }
        : source,
  }
}
