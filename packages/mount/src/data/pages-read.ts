/** No page of any machine is smaller; those of other machines than x86 may be larger. */
const pageBytes = 4096
const pageBytesMax: number = process.arch === 'x64' ? pageBytes : 65_536
/** More of them count as one, with what is between them. */
const spansMax = 64

interface Span {
  readonly start: number
  readonly end: number
}

/**
 * The pages of a file that the kernel may have, because it read them and was not told to drop them since. What a program
 * writes is in such a page at once. In a page that the kernel does not have whole it is, too, but then the page is locked until the
 * write is answered, and is read before it is shown.
 */
export class PagesRead {
  /** INVARIANT: in order, and none touches the next. */
  #spans: readonly Span[] = []

  /** The kernel asked for these bytes. */
  add(offset: number, end: number): void {
    const span = { start: floor(offset, pageBytesMax), end: ceil(end, pageBytesMax) }
    const [first] = this.#spans
    // Most readers go on where they are.
    if (this.#spans.length === 1 && first!.start <= span.start && first!.end >= span.end) return
    const isApart = (other: Span): boolean => other.end < span.start || other.start > span.end
    const joined = this.#spans.filter((other) => !isApart(other))
    const spans = [...this.#spans.filter(isApart), joined.reduce(join, span)]
    this.#spans =
      spans.length > spansMax ? [spans.reduce(join)] : spans.sort((a, b) => a.start - b.start)
  }

  /** The kernel is told to drop the pages that have these bytes, before it can ask for them again. */
  drop(offset: number, end: number): void {
    const start = ceil(floor(offset, pageBytes), pageBytesMax)
    const stop = floor(ceil(end, pageBytes), pageBytesMax)
    if (stop <= start) return
    this.#spans = this.#spans.flatMap((span) => {
      if (span.end <= start || span.start >= stop) return [span]
      const left = { start: span.start, end: start }
      const right = { start: stop, end: span.end }
      return [left, right].filter((part) => part.start < part.end)
    })
  }

  dropAll(): void {
    this.#spans = []
  }

  get isEmpty(): boolean {
    return this.#spans.length === 0
  }

  has(offset: number, end: number): boolean {
    return this.#spans.some((span) => span.start < end && span.end > offset)
  }
}

function join(a: Span, b: Span): Span {
  return { start: Math.min(a.start, b.start), end: Math.max(a.end, b.end) }
}

function floor(offset: number, unit: number): number {
  return offset - (offset % unit)
}

function ceil(offset: number, unit: number): number {
  return floor(offset + unit - 1, unit)
}
