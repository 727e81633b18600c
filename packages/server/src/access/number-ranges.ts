interface Range {
  readonly first: number
  /** The first number behind it. */
  readonly end: number
}

/** A set of whole numbers that come in ranges. INVARIANT: `#ranges` is sorted, and no two of them touch. */
export class NumberRanges {
  readonly #ranges: readonly Range[]

  private constructor(ranges: readonly Range[]) {
    this.#ranges = ranges
  }

  static readonly none: NumberRanges = new NumberRanges([])

  /** In any order; they may overlap. */
  static of(ranges: readonly Range[]): NumberRanges {
    const joined: Range[] = []
    for (const { first, end } of ranges.toSorted((a, b) => a.first - b.first)) {
      const last = joined.at(-1)
      if (last && first <= last.end)
        joined[joined.length - 1] = { first: last.first, end: Math.max(last.end, end) }
      else joined.push({ first, end })
    }
    return new NumberRanges(joined)
  }

  with(range: Range): NumberRanges {
    return NumberRanges.of([...this.#ranges, range])
  }

  has(number: number): boolean {
    let [low, high] = [0, this.#ranges.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#ranges[middle]!.end > number) high = middle
      else low = middle + 1
    }
    const range = this.#ranges[low]
    return range !== undefined && range.first <= number
  }

  get count(): number {
    return this.#ranges.length
  }
}
