import type { FilePart, ScanCounts, Scanned, SearchSpec } from '../scan-messages.ts'
import { Pattern } from '../pattern/pattern.ts'
import {
  beginEvent,
  endEvent,
  wordsEvent,
  type EventPlace,
  eventPlaces,
  type FoundLines,
  linesEvent,
} from './events.ts'
import { StemReader } from '../ranking/words.ts'
import { FileScan } from './file-scan.ts'

/** Thrown out of the middle of a file when a budget ends. */
class BudgetEnd extends Error {
  readonly why: 'lines' | 'time'

  constructor(why: 'lines' | 'time') {
    super(why)
    this.why = why
  }
}

interface Limits {
  readonly linesMax: number
  readonly textMax: number
  readonly timeMs: number
}

const ticksPerLook = 256

/** One search: its pattern, and the file it is in the middle of. */
export class Searching {
  readonly #spec: SearchSpec
  readonly pattern: Pattern
  #file: OpenFile | undefined
  #ticks = 0
  #deadlineMs = Infinity
  #text: string[] = []
  #textLength = 0
  #lines = 0
  #limits: Limits = { linesMax: 0, textMax: 0, timeMs: 0 }
  #counts = noCounts()

  /** Throws a PatternError. */
  constructor(spec: SearchSpec) {
    this.#spec = spec
    this.pattern = new Pattern(spec.pattern, spec.options, () => this.#tick())
  }

  scan(pieces: readonly FilePart[], limits: Limits): Scanned {
    this.#limits = limits
    this.#deadlineMs = performance.now() + limits.timeMs
    this.#text = []
    this.#textLength = 0
    this.#lines = 0
    this.#counts = noCounts()
    const stop = this.#scanAll(pieces)
    return {
      text: this.#text.join(''),
      counts: this.#counts,
      lines: this.#lines,
      engine: this.pattern.engine,
      isFileDone: this.#file?.scan.isDone ?? true,
      ...(stop ? { stop } : {}),
    }
  }

  #scanAll(pieces: readonly FilePart[]): Scanned['stop'] {
    let index = 0
    let rowEnd = 0
    let isBegun = false
    try {
      for (; index < pieces.length; index++) {
        isBegun = false
        if (index >= rowEnd) rowEnd = this.#endOfRow(pieces, index)
        if (index < rowEnd) index = this.#passOver(pieces, index, rowEnd)
        isBegun = true
        if (index < pieces.length) this.#scanPiece(pieces[index]!)
      }
    } catch (error) {
      if (!(error instanceof BudgetEnd)) throw error
      const line = isBegun ? this.#endFile()?.lastLine : 0
      return { piece: index, why: error.why, ...(line === undefined ? {} : { line }) }
    }
    return undefined
  }

  #endOfRow(pieces: readonly FilePart[], index: number): number {
    const isByItself = this.#spec.isInverted || this.pattern.isMultiline
    return isByItself ? index : endOfRow(pieces, index)
  }

  /** The first of the row's files that has a match, or what is behind the row. */
  #passOver(pieces: readonly FilePart[], index: number, rowEnd: number): number {
    const { buffer, byteOffset: start } = pieces[index]!.bytes
    const last = pieces[rowEnd - 1]!.bytes
    const row = Buffer.from(buffer, start, last.byteOffset + last.byteLength - start)
    const line = this.pattern.findLine(row, 0, row.length)
    const place = line ? start + line.start : Infinity
    let at = index
    for (let bytes = pieces[at]!.bytes; at < rowEnd; bytes = pieces[++at]?.bytes ?? bytes) {
      if (bytes.byteOffset + bytes.byteLength >= place) break
      this.#counts.files++
      this.#counts.bytes += bytes.byteLength
    }
    return at
  }

  #scanPiece(piece: FilePart): void {
    const bytes = Buffer.from(piece.bytes.buffer, piece.bytes.byteOffset, piece.bytes.byteLength)
    if (piece.isFirst)
      this.#file = new OpenFile(this.pattern, this.#spec, piece, (text) => this.#write(text))
    const file = this.#file!
    file.onLine = () => this.#countLine()
    this.#counts.bytes += bytes.length
    file.scan.push(bytes, piece.isLast)
    if (!piece.isLast) return
    this.#endFile()
    // Lines were counted as they came.
    if (this.#spec.wants !== 'lines' && file.scan.matchedLines > 0) this.#countLine()
  }

  #endFile(): OpenFile | undefined {
    const file = this.#file
    this.#file = undefined
    if (!file) return undefined
    file.end()
    const { matchedLines, matches } = file.scan
    this.#counts.files++
    this.#counts.matchedLines += matchedLines
    this.#counts.matches += matches
    if (matchedLines > 0) this.#counts.filesWithMatch++
    return file
  }

  #countLine(): void {
    if (++this.#lines >= this.#limits.linesMax || this.#textLength >= this.#limits.textMax)
      throw new BudgetEnd('lines')
  }

  #write(text: string): void {
    this.#text.push(text)
    this.#textLength += text.length
  }

  #tick(): void {
    if (++this.#ticks % ticksPerLook === 0 && performance.now() > this.#deadlineMs)
      throw new BudgetEnd('time')
  }
}

/** A file that is being searched, and the events that its lines become: for each of its places. */
class OpenFile {
  readonly scan: FileScan
  readonly #spec: SearchSpec
  readonly #piece: FilePart
  readonly #write: (text: string) => void
  #places: readonly EventPlace[] | undefined
  readonly #words: WordCounts | undefined
  /** For the further places. */
  readonly #kept: FoundLines[] = []
  lastLine = 0
  onLine: () => void = () => {}
  #hasBegun = false
  readonly #beganMs = performance.now()

  constructor(pattern: Pattern, spec: SearchSpec, piece: FilePart, write: (text: string) => void) {
    this.#spec = spec
    this.#piece = piece
    this.#write = write
    this.#words = spec.wants === 'words' ? new WordCounts(spec.words ?? []) : undefined
    this.scan = new FileScan(pattern, spec, piece.isNamed, (found) => this.#take(found))
  }

  #take(found: FoundLines): void {
    if (this.#words) return this.#words.add(found)
    this.#give(this.#spec.words ? clipped(found) : found)
  }

  #give(found: FoundLines): void {
    if (found.line <= this.#piece.afterLine) return
    this.#places ??= eventPlaces(this.#piece.places)
    const [first] = this.#places
    if (!this.#hasBegun) this.#write(beginEvent(first!))
    this.#hasBegun = true
    this.#write(linesEvent(first!, found))
    // The bytes are of a buffer that is used again.
    if (this.#places.length > 1) this.#kept.push({ ...found, bytes: Buffer.from(found.bytes) })
    this.lastLine = found.line
    if (found.isMatch) this.onLine()
  }

  end(): void {
    const { scan } = this
    if (scan.matchedLines === 0) return
    const places = this.#places ?? eventPlaces(this.#piece.places)
    if (this.#words) return this.#write(wordsEvent(places[0]!, scan.bytes, this.#words.counts))
    const { binaryOffset, matchedLines, matches, bytes } = scan
    const elapsedMs = performance.now() - this.#beganMs
    const end = { binaryOffset, matchedLines, matches, bytes, elapsedMs }
    for (const [index, place] of places.entries()) {
      if (index > 0 || !this.#hasBegun) this.#write(beginEvent(place))
      if (index > 0) for (const found of this.#kept) this.#write(linesEvent(place, found))
      if (this.#spec.wants !== 'files') this.#write(endEvent(place, end))
    }
  }
}

/** Behind the last of the files that lie one behind the other, with a newline between them. They can be searched as one text. */
function endOfRow(pieces: readonly FilePart[], index: number): number {
  let end = index
  for (let piece = pieces[end]; piece && isPlain(piece); piece = pieces[++end]) {
    const before = pieces[end - 1]?.bytes
    const isNext =
      before?.buffer === piece.bytes.buffer &&
      before.byteOffset + before.byteLength + 1 === piece.bytes.byteOffset
    if (end > index && !isNext) break
  }
  return end
}

/** What lies in shared memory has a newline behind it. A mark at its beginning would make it another text. */
function isPlain({ bytes, isFirst, isLast, isNamed }: FilePart): boolean {
  const isShared = bytes.buffer instanceof SharedArrayBuffer
  return isShared && isFirst && isLast && !isNamed && !(bytes[0]! >= firstMarkByte)
}

/** The lowest with which a byte-order mark of UTF-8 or UTF-16 begins. */
const firstMarkByte = 0xef

const clipBytes = 1200
const clipBefore = 300

/** The part of a long line that has its first match: bundled code is one line of megabytes. */
function clipped(found: FoundLines): FoundLines {
  const { bytes, matches } = found
  if (bytes.length <= clipBytes) return found
  let start = Math.max(0, (matches[0]?.start ?? 0) - clipBefore)
  let end = Math.min(bytes.length, start + clipBytes)
  // Not in the middle of a character.
  while (start < end && isContinuation(bytes[start]!)) start++
  while (end < bytes.length && end > start && isContinuation(bytes[end]!)) end--
  const inside = matches.filter((match) => match.start >= start && match.end <= end)
  const moved = inside.map((match) => ({ start: match.start - start, end: match.end - start }))
  return { ...found, bytes: bytes.subarray(start, end), matches: moved }
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}

/** How often each word is in the lines of a file. */
class WordCounts {
  readonly counts: number[]
  readonly #reader: StemReader

  constructor(words: readonly string[]) {
    this.counts = words.map(() => 0)
    this.#reader = new StemReader(words)
  }

  add({ bytes, matches }: FoundLines): void {
    for (const span of matches) {
      const word = this.#reader.read(bytes, span)
      if (word >= 0) this.counts[word]!++
    }
  }
}

function noCounts(): { -readonly [Field in keyof ScanCounts]: ScanCounts[Field] } {
  return { files: 0, filesWithMatch: 0, bytes: 0, matchedLines: 0, matches: 0 }
}
