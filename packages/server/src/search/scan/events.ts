import { isUtf8 } from 'node:buffer'
import type { Span } from '../pattern/pike.ts'

/** One line, or with -U several, that goes into the answer. */
export interface FoundLines {
  readonly isMatch: boolean
  readonly bytes: Buffer
  /** From 1. */
  readonly line: number
  /** Of its first byte in the file. */
  readonly offset: number
  /** Inside `bytes`. */
  readonly matches: readonly Span[]
}

/** Where a content is found. */
export interface FoundPlace {
  /** As JSON. */
  readonly path: string
  /** The attempts, one a line. In one text, because most files are in all of them. */
  readonly layers?: string
}

/** What the events of one file call it. */
export interface EventPlace {
  readonly path: string
  readonly layer?: string
}

export function eventPlaces(places: readonly FoundPlace[]): readonly EventPlace[] {
  return places.flatMap(({ path, layers }): EventPlace[] =>
    layers === undefined ? [{ path }] : layers.split('\n').map((layer) => ({ path, layer })),
  )
}

interface EndOfFile {
  readonly binaryOffset: number | undefined
  readonly matchedLines: number
  readonly matches: number
  readonly bytes: number
  readonly elapsedMs: number
}

/** Lines of JSON as `rg --json` prints them. `layer` is ours, where several attempts are searched. */
export function beginEvent(place: EventPlace): string {
  return event('begin', place, '')
}

export function linesEvent(place: EventPlace, found: FoundLines): string {
  const { isMatch, bytes, line, offset, matches } = found
  const submatches = matches.map(
    ({ start, end }) =>
      `{"match":${textJson(bytes.subarray(start, end))},"start":${start},"end":${end}}`,
  )
  return event(
    isMatch ? 'match' : 'context',
    place,
    `,"lines":${textJson(bytes)},"line_number":${line},"absolute_offset":${offset},"submatches":[${submatches.join()}]`,
  )
}

export function endEvent(place: EventPlace, end: EndOfFile): string {
  const { binaryOffset, ...counts } = end
  const stats = statsOf({ ...counts, files: 1, filesWithMatch: 1, bytesPrinted: 0 })
  return event(
    'end',
    place,
    `,"binary_offset":${binaryOffset ?? 'null'},"stats":${JSON.stringify(stats)}`,
  )
}

/** How often each word of a question is in a file. */
export function wordsEvent(place: EventPlace, bytes: number, counts: readonly number[]): string {
  return event('words', place, `,"bytes":${bytes},"counts":[${counts.join()}]`)
}

interface Counts {
  readonly files: number
  readonly filesWithMatch: number
  readonly bytes: number
  readonly bytesPrinted: number
  readonly matchedLines: number
  readonly matches: number
  readonly elapsedMs: number
}

export function statsOf(counts: Counts): object {
  return {
    elapsed: elapsedOf(counts.elapsedMs),
    searches: counts.files,
    searches_with_match: counts.filesWithMatch,
    bytes_searched: counts.bytes,
    bytes_printed: counts.bytesPrinted,
    matched_lines: counts.matchedLines,
    matches: counts.matches,
  }
}

export function elapsedOf(ms: number): object {
  const secs = Math.floor(ms / 1000)
  return { secs, nanos: Math.round((ms - secs * 1000) * 1e6), human: `${(ms / 1000).toFixed(6)}s` }
}

function event(type: string, { path, layer }: EventPlace, rest: string): string {
  const attempt = layer === undefined ? '' : `,"layer":${JSON.stringify(layer)}`
  return `{"type":"${type}","data":{"path":${path}${attempt}${rest}}}\n`
}

/** Text, or in base64 where the bytes are no UTF-8. */
export function textJson(bytes: Buffer): string {
  return isUtf8(bytes)
    ? `{"text":${JSON.stringify(bytes.toString())}}`
    : `{"bytes":"${bytes.toString('base64')}"}`
}
