import type { Pattern } from '../pattern/pattern.ts'
import type { Span } from '../pattern/pike.ts'
import type { FoundLines } from './events.ts'
import { countNewlines, lineEnd, previousLine } from '../pattern/line-ends.ts'
import { matchedBlocks, matchedLines } from './matched.ts'
import { TextOfFile } from './text-of-file.ts'

export interface ScanOptions {
  readonly isInverted: boolean
  readonly before: number
  readonly after: number
  /** Lines, in each file. */
  readonly maxCount: number
  /** Whether lines are wanted, or only how many there are, whether there is one, or how often each word is there. */
  readonly wants: 'lines' | 'count' | 'files' | 'words'
  /** Bytes of 0 mean nothing special. */
  readonly isText: boolean
}

/** How much ripgrep reads at a time: it gives a file up with the piece that has a byte of 0. */
const pieceBytes = 64 << 10
/** A line that is longer is cut, so that memory stays bounded. */
const lineBytesMax = 16 << 20

/** Looks through one file, whose bytes come in pieces. */
export class FileScan {
  readonly #pattern: Pattern
  readonly #options: ScanOptions
  readonly #isNamed: boolean
  readonly #take: (found: FoundLines) => void
  readonly #text = new TextOfFile()
  #buffer: Buffer = Buffer.alloc(0)
  /** In the file, of the buffer's first byte. */
  #base = 0
  #scanned = 0
  #line = 1
  #counted = 0
  #given = 0
  #afterLeft = 0
  binaryOffset: number | undefined
  matchedLines = 0
  matches = 0
  bytes = 0
  isDone = false

  /** `isNamed`: it was asked for by its own path, not found in a directory. */
  constructor(
    pattern: Pattern,
    options: ScanOptions,
    isNamed: boolean,
    take: (found: FoundLines) => void,
  ) {
    this.#pattern = pattern
    this.#options = options
    this.#isNamed = isNamed
    this.#take = take
  }

  push(chunk: Buffer, isLast: boolean): void {
    if (this.isDone) return
    this.bytes += chunk.length
    const text = this.#withoutBinary(this.#text.next(chunk, isLast))
    this.#buffer = this.#buffer.length === 0 ? text : Buffer.concat([this.#buffer, text])
    const { isMultiline } = this.#pattern
    if (isMultiline) {
      if (isLast && !this.#isGivenUp) this.#scan(this.#buffer.length)
    } else this.#scan(this.#endOfLines(isLast && !this.#isGivenUp))
    if (this.#isGivenUp || isLast) this.isDone = true
    if (this.isDone) this.#buffer = Buffer.alloc(0)
    else if (!isMultiline) this.#keepRest()
  }

  get #isGivenUp(): boolean {
    return this.binaryOffset !== undefined && !this.#isNamed
  }

  /** Notes a byte of 0. In a named file it ends a line; any other is searched up to the piece that has it. */
  #withoutBinary(text: Buffer): Buffer {
    if (this.#options.isText) return text
    const at = text.indexOf(0)
    if (at < 0) return text
    this.binaryOffset ??= this.#base + this.#buffer.length + at
    if (!this.#isNamed) return text.subarray(0, at - (at % pieceBytes))
    return Buffer.from(text.map((byte) => (byte === 0 ? 0x0a : byte)))
  }

  #endOfLines(isLast: boolean): number {
    const { length } = this.#buffer
    if (isLast || length - this.#scanned > lineBytesMax) return length
    return this.#buffer.lastIndexOf(0x0a) + 1
  }

  #scan(end: number): void {
    const { isInverted } = this.#options
    const find = this.#pattern.isMultiline ? matchedBlocks : matchedLines
    const found = find(this.#pattern, this.#buffer, this.#scanned, end)
    if (isInverted) this.#scanBetween(found, end)
    else for (const block of found) if (!this.#match(block.lines, block.matches)) break
    this.#giveAfter(end)
    this.#scanned = Math.max(this.#scanned, end)
  }

  #scanBetween(found: Iterable<{ lines: Span }>, end: number): void {
    let at = this.#scanned
    const giveUpTo = (stop: number): boolean => {
      while (at < stop) {
        const next = lineEnd(this.#buffer, at, end)
        if (!this.#match({ start: at, end: next }, undefined)) return false
        at = next
      }
      return true
    }
    for (const { lines } of found) {
      if (!giveUpTo(lines.start)) return
      at = Math.max(at, lines.end)
    }
    giveUpTo(end)
  }

  /** False when no more are wanted. */
  #match(lines: Span, matches: (() => readonly Span[]) | undefined): boolean {
    const { wants, maxCount, before, after } = this.#options
    const { isMultiline } = this.#pattern
    if (this.matchedLines >= maxCount || this.isDone) return false
    // With -U, ripgrep counts matches.
    const givesLines = wants === 'lines' || wants === 'words'
    const spans = givesLines || (isMultiline && matches) ? (matches?.() ?? []) : []
    this.matchedLines += wants === 'count' && isMultiline && matches ? spans.length : 1
    this.matches += spans.length
    if (wants === 'files' || (this.binaryOffset !== undefined && this.#isNamed)) {
      this.isDone = true
      return false
    }
    if (wants === 'count') return true
    this.#giveAfter(lines.start)
    let context = lines.start
    for (let count = 0; count < before && context > this.#given; count++)
      context = previousLine(this.#buffer, context, this.#given)
    while (context < lines.start) context = this.#giveContext(context)
    this.#give(lines, true, spans)
    this.#afterLeft = after
    return this.matchedLines < maxCount
  }

  #giveAfter(end: number): void {
    while (this.#afterLeft > 0 && this.#given < end) {
      this.#given = this.#giveContext(this.#given)
      this.#afterLeft--
    }
  }

  #giveContext(start: number): number {
    const end = lineEnd(this.#buffer, start, this.#buffer.length)
    this.#give({ start, end }, false, [])
    return end
  }

  #give({ start, end }: Span, isMatch: boolean, matches: readonly Span[]): void {
    this.#line += countNewlines(this.#buffer, this.#counted, start)
    this.#counted = start
    this.#given = end
    this.#take({
      isMatch,
      bytes: this.#buffer.subarray(start, end),
      line: this.#line,
      offset: this.#base + start,
      matches: matches.map((span) => ({ start: span.start - start, end: span.end - start })),
    })
  }

  /** Keeps what was not scanned, and the lines that may become context. */
  #keepRest(): void {
    const { before, maxCount } = this.#options
    if (this.matchedLines >= maxCount && this.#afterLeft === 0) this.isDone = true
    let from = this.#scanned
    for (let count = 0; count < before && from > this.#given; count++)
      from = previousLine(this.#buffer, from, this.#given)
    this.#line += countNewlines(this.#buffer, this.#counted, from)
    this.#buffer = this.#buffer.subarray(from)
    this.#base += from
    this.#scanned -= from
    this.#given = Math.max(0, this.#given - from)
    this.#counted = 0
  }
}
