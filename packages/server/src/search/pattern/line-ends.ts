import type { Span } from './pike.ts'

const newline = 0x0a

/** The line that a place is in, with its newline. */
export function lineAround(bytes: Buffer, place: number, end: number): Span {
  const start = place === 0 ? 0 : bytes.lastIndexOf(newline, place - 1) + 1
  return { start, end: lineEnd(bytes, place, end) }
}

/** Behind the newline that ends the line at a place, or the end of the text. */
export function lineEnd(bytes: Buffer, place: number, end: number): number {
  const at = bytes.indexOf(newline, place)
  return at < 0 || at >= end ? end : at + 1
}

/** Where a line ends without its newline. */
export function contentEnd(bytes: Buffer, { start, end }: Span): number {
  return end > start && bytes[end - 1] === newline ? end - 1 : end
}

/** Where the line before this one begins, but not before `floor`. */
export function previousLine(bytes: Buffer, start: number, floor: number): number {
  if (start - 2 < floor) return floor
  return Math.max(floor, bytes.lastIndexOf(newline, start - 2) + 1)
}

export function countNewlines(bytes: Buffer, from: number, to: number): number {
  let count = 0
  for (let at = from; at < to; at++) if (bytes[at] === newline) count++
  return count
}
