import type { Segment } from './segment.ts'

/** Segments whose checksum was right when they were read. The longest unused are dropped. */
export class SegmentCache {
  readonly #bytesMax: number
  readonly #segments = new Map<string, Segment>()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get(path: string, read: () => Segment | undefined): Segment | undefined {
    let segment = this.#segments.get(path)
    if (segment) {
      this.#segments.delete(path)
    } else {
      segment = read()
      if (!segment) return undefined
      this.#bytes += segment.bytes.length
    }
    this.#segments.set(path, segment)
    for (const old of this.#segments.keys()) {
      if (this.#bytes <= this.#bytesMax || old === path) break
      this.drop(old)
    }
    return segment
  }

  drop(path: string): void {
    this.#bytes -= this.#segments.get(path)?.bytes.length ?? 0
    this.#segments.delete(path)
  }
}
