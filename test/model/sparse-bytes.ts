/** On purpose no divisor or multiple of the core's block size: borders must not fall together. */
const pageBytes = 1000

/**
 * A file's bytes as pages by number; a page that is not there is zeros. Pages never change once made, so
 * copies share them.
 */
export class SparseBytes {
  #pages: Map<number, Uint8Array>

  constructor(pages: ReadonlyMap<number, Uint8Array> = new Map()) {
    this.#pages = new Map(pages)
  }

  clone(): SparseBytes {
    return new SparseBytes(this.#pages)
  }

  read(start: number, end: number): Uint8Array {
    const bytes = new Uint8Array(end - start)
    for (const { at, from, to, index } of pieces(start, end)) {
      const page = this.#pages.get(index)
      if (page) bytes.set(page.subarray(from, to), at)
    }
    return bytes
  }

  write(offset: number, bytes: Uint8Array): void {
    for (const { at, from, to, index } of pieces(offset, offset + bytes.length)) {
      const page = this.#pages.get(index)?.slice() ?? new Uint8Array(pageBytes)
      page.set(bytes.subarray(at, at + to - from), from)
      this.#pages.set(index, page)
    }
  }

  /** Makes a range zeros. It may be far longer than anything that was written. */
  clear(start: number, end: number): void {
    for (const index of this.#pages.keys()) {
      const from = Math.max(start, index * pageBytes)
      const to = Math.min(end, (index + 1) * pageBytes)
      if (to - from === pageBytes) this.#pages.delete(index)
      else if (from < to) this.write(from, new Uint8Array(to - from))
    }
  }

  /** Where something other than zeros may be: ascending, none empty, neighbours joined. */
  ranges(): readonly { readonly start: number; readonly end: number }[] {
    const ranges: { start: number; end: number }[] = []
    for (const index of [...this.#pages.keys()].sort((a, b) => a - b)) {
      const start = index * pageBytes
      const last = ranges.at(-1)
      if (last?.end === start) last.end += pageBytes
      else ranges.push({ start, end: start + pageBytes })
    }
    return ranges
  }
}

/** A range cut at the borders of pages: `at` counts from its start, `from` and `to` within the page. */
function* pieces(
  start: number,
  end: number,
): Generator<{ at: number; index: number; from: number; to: number }> {
  for (let offset = start; offset < end;) {
    const index = Math.floor(offset / pageBytes)
    const from = offset - index * pageBytes
    const to = Math.min(pageBytes, from + end - offset)
    yield { at: offset - start, index, from, to }
    offset += to - from
  }
}
