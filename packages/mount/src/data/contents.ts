import type { Inode } from '@cairn/core'
import type { Ino } from '@cairn/protocol'
import { type Range, Ranges } from './ranges.ts'
import { runBytesMax } from './read-ahead.ts'
import type { SegmentPlace, Segments } from './segments.ts'

export interface ContentsParts {
  readonly segments: Segments
  /** The server's bytes, short where the file ends there. */
  readonly fetch: (ino: Ino, offset: number, length: number) => Promise<Uint8Array>
  /** Once the server has everything up to that batch. */
  readonly whenSettled: (number: number) => Promise<void>
  /** Keeps fetched bytes on the disk; undefined when there is no room. */
  readonly keep: (bytes: Uint8Array) => SegmentPlace | undefined
  /** Hears what programs read. */
  readonly onRead?: (ino: Ino, offset: number, end: number) => void
}

export interface Supplied {
  readonly bytes: Uint8Array
  readonly writesDeleted: number
}

/** The server's blocks end where these end. */
const blockBytes = 256 * 1024
/** For all readers together. */
const aheadBytesMax = 32 << 20
const none: ReadonlyMap<number, Uint8Array> = new Map()

/** Files' bytes, here and at the server. */
export class Contents {
  readonly #parts: ContentsParts
  readonly #files = new Map<Ino, Ranges>()
  readonly #fetching = new Map<string, Promise<Uint8Array>>()
  #aheadBytes = 0

  constructor(parts: ContentsParts) {
    this.#parts = parts
  }

  /** The ranges of a file whose bytes change here. Before the first change the server has it as `inode` says. */
  of(ino: Ino, inode: Inode): Ranges {
    let ranges = this.#files.get(ino)
    if (!ranges) this.#files.set(ino, (ranges = new Ranges(inode.size)))
    return ranges
  }

  /** If something is known here. */
  find(ino: Ino): Ranges | undefined {
    return this.#files.get(ino)
  }

  /** Whether the kernel may have pages of the file that it read. */
  wasRead(ino: Ino): boolean {
    const ranges = this.#files.get(ino)
    return ranges !== undefined && !ranges.pagesRead.isEmpty
  }

  drop(ino: Ino): void {
    this.#files.delete(ino)
  }

  clear(): void {
    this.#files.clear()
  }

  /** Bytes from `offset` to `end`, which is not behind the file's end. */
  read(ino: Ino, inode: Inode, offset: number, end: number): Uint8Array | Promise<Uint8Array> {
    const ranges = this.of(ino, inode)
    this.#parts.onRead?.(ino, offset, end)
    ranges.pagesRead.add(offset, end)
    const parts = [...ranges.between(offset, end)]
    const isHere = !parts.some((part) => this.#isElsewhere(part))
    const bytes = isHere
      ? this.#assemble(parts, offset, end, none)
      : this.#readLater(ino, ranges, offset, end)
    // Also where the bytes are here: they were fetched ahead, and the reader goes on.
    this.#readAhead(ino, ranges, offset, end)
    return bytes
  }

  /** Until this grows, what was written here is here and not at the server alone. */
  get writesDeleted(): number {
    return this.#parts.segments.writesDeleted
  }

  /**
   * Bytes that came unasked. `writesDeleted` is from before the question. Where the server's bytes of the file have
   * changed since they became known, they are asked for when a program reads them.
   */
  supply(ino: Ino, inode: Inode, offset: number, { bytes, writesDeleted }: Supplied): void {
    const ranges = this.of(ino, inode)
    if (ranges.version > 0 || writesDeleted !== this.writesDeleted) return
    this.#keep(ranges, offset, bytes)
  }

  /** No program waits for bytes of the server. */
  async whenAtRest(): Promise<void> {
    while (this.#fetching.size > 0) await Promise.allSettled(this.#fetching.values())
  }

  /**
   * Fetches missing bytes and looks again: meanwhile a client may have written, or old segments may
   * be gone.
   */
  async #readLater(ino: Ino, ranges: Ranges, offset: number, end: number): Promise<Uint8Array> {
    const blocks = new Map<number, Uint8Array>()
    for (;;) {
      const age = this.#age(ranges)
      const parts = [...ranges.between(offset, end)]
      const wanted = this.#wanted(parts).filter((start) => !blocks.has(start))
      if (wanted.length === 0) return this.#assemble(parts, offset, end, blocks)
      const fetched = this.#blocks(ino, ranges, wanted).map(async ([start, bytes]) =>
        blocks.set(start, await bytes),
      )
      await Promise.all(fetched)
      if (this.#age(ranges) !== age) blocks.clear()
    }
  }

  /** Grows when the server's bytes of the file change, and when what was written here is only there from now on. */
  #age(ranges: Ranges): number {
    return ranges.version + this.#parts.segments.writesDeleted
  }

  #isElsewhere({ source }: Range): boolean {
    if (source.type === 'local') return !this.#parts.segments.has(source.segment)
    return source.type === 'server'
  }

  #wanted(parts: readonly Range[]): number[] {
    const starts = new Set<number>()
    for (const part of parts)
      if (this.#isElsewhere(part))
        for (let at = startOf(part.offset); at < part.offset + part.length; at += blockBytes)
          starts.add(at)
    return [...starts]
  }

  /** What was copied by reference can be read where the copy is. */
  async #whenReadable(parts: readonly Range[]): Promise<void> {
    for (const { source } of parts)
      if (source.type === 'server' && source.after > 0) await this.#parts.whenSettled(source.after)
  }

  #assemble(
    parts: readonly Range[],
    offset: number,
    end: number,
    blocks: ReadonlyMap<number, Uint8Array>,
  ): Uint8Array {
    const bytes = Buffer.allocUnsafe(end - offset)
    for (const part of parts) {
      const target = bytes.subarray(part.offset - offset, part.offset - offset + part.length)
      if (part.source.type === 'zeros') target.fill(0)
      else if (this.#isElsewhere(part)) copyBlocks(blocks, part.offset, target)
      else this.#parts.segments.read(part.source as SegmentPlace, target)
    }
    return bytes
  }

  /** Fetches the next megabytes for a sequential reader. */
  #readAhead(ino: Ino, ranges: Ranges, offset: number, end: number): void {
    const { readAhead } = ranges
    const target = Math.min(readAhead.note(offset, end), ranges.serverEnd)
    for (;;) {
      const from = startOf(Math.max(readAhead.issuedTo, end) + blockBytes - 1)
      const to = Math.min(from + runBytesMax, target)
      // Whole runs, so that a reader of small pieces makes no more requests than one of large ones.
      const isWhole = to - from === runBytesMax || to === ranges.serverEnd
      if (from >= target || !isWhole || this.#aheadBytes + (to - from) > aheadBytesMax) return
      readAhead.issuedTo = to
      this.#fetchAhead(ino, ranges, from, to)
    }
  }

  #fetchAhead(ino: Ino, ranges: Ranges, from: number, to: number): void {
    const wanted = this.#wanted([...ranges.between(from, to)])
    if (wanted.length === 0) return
    this.#aheadBytes += to - from
    const fetched = this.#blocks(ino, ranges, wanted).map(([, bytes]) => bytes)
    void Promise.allSettled(fetched).then(() => (this.#aheadBytes -= to - from))
  }

  /** Blocks of the server's, neighbours by one request. Several who want one at once get the same. */
  #blocks(
    ino: Ino,
    ranges: Ranges,
    starts: readonly number[],
  ): readonly (readonly [start: number, bytes: Promise<Uint8Array>])[] {
    const keyOf = (start: number): string => `${ino} ${start} ${this.#age(ranges)}`
    const missing = starts.filter((start) => !this.#fetching.has(keyOf(start)))
    for (const [first, length] of runsOf(missing)) {
      const run = this.#fetchRun(ino, ranges, first, length)
      for (let start = first; start < first + length; start += blockBytes) {
        const key = keyOf(start)
        const block = run
          .then((bytes) => bytes.subarray(start - first, start - first + blockBytes))
          .finally(() => this.#fetching.delete(key))
        // Whether it failed is asked by those who wait for it, and fetching ahead waits for nothing.
        block.catch(() => undefined)
        this.#fetching.set(key, block)
      }
    }
    return starts.map((start) => [start, this.#fetching.get(keyOf(start))!])
  }

  async #fetchRun(ino: Ino, ranges: Ranges, start: number, length: number): Promise<Uint8Array> {
    // Taken before the first wait: a copy that is acknowledged during either wait is not in these bytes.
    const age = this.#age(ranges)
    await this.#whenReadable([...ranges.between(start, start + length)])
    const bytes = await this.#parts.fetch(ino, start, length)
    if (this.#age(ranges) === age && this.#files.get(ino) === ranges)
      this.#keep(ranges, start, bytes)
    return bytes
  }

  /** Only where nothing newer is known. */
  #keep(ranges: Ranges, start: number, bytes: Uint8Array): void {
    const parts = [...ranges.between(start, start + bytes.length)].filter((part) =>
      this.#isElsewhere(part),
    )
    if (parts.length === 0) return
    const place = this.#parts.keep(bytes)
    if (!place) return
    for (const { offset, length } of parts)
      ranges.put(offset, length, {
        type: 'local',
        segment: place.segment,
        position: place.position + offset - start,
      })
  }
}

/** Neighbours together, up to so many bytes. */
function* runsOf(starts: readonly number[]): Generator<readonly [first: number, length: number]> {
  for (let at = 0; at < starts.length;) {
    const first = starts[at]!
    let length = 0
    while (starts[at] === first + length && length < runBytesMax) {
      length += blockBytes
      at++
    }
    yield [first, length]
  }
}

function startOf(offset: number): number {
  return offset - (offset % blockBytes)
}

/** Where a block is short the file has zeros. */
function copyBlocks(
  blocks: ReadonlyMap<number, Uint8Array>,
  offset: number,
  target: Uint8Array,
): void {
  for (let at = offset; at < offset + target.length;) {
    const start = startOf(at)
    const stop = Math.min(offset + target.length, start + blockBytes)
    const block = blocks.get(start)!.subarray(at - start, stop - start)
    target.set(block, at - offset)
    target.fill(0, at - offset + block.length, stop - offset)
    at = stop
  }
}
