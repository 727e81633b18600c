/** Above this a file is not merged or compared by lines: the answer is that it is too large. */
export const textMergeBytesMax: number = 4 * 1024 * 1024
/** The second bound, because four mebibytes of newlines would be four million lines. */
export const textLinesMax: number = 2 ** 19

/** As far as git looks for a NUL, so that both tools call the same files text. */
const sniffBytes = 8000
const lineFeed = 0x0a

/** A file cut into lines. A line keeps its LF (and the CR before it); the last may have none. */
export interface TextLines {
  readonly bytes: Uint8Array
  readonly count: number
  /**
   * INVARIANT: count + 1 long, strictly ascending, from 0 to bytes.length.
   * Line i is [starts[i], starts[i + 1]).
   */
  readonly starts: Uint32Array
}

export type TextProblem = 'binary' | 'too-large'

/**
 * Text is what has no NUL near its start. Encodings are not examined: Latin-1, UTF-8 and a broken
 * mix of both are lines of bytes, while UTF-16 is full of NULs and counts as binary.
 */
export function isText(bytes: Uint8Array): boolean {
  return !bytes.subarray(0, sniffBytes).includes(0)
}

/** Why these bytes cannot be handled by lines, or undefined when they can. */
export function findTextProblem(bytes: Uint8Array): TextProblem | undefined {
  if (!isText(bytes)) return 'binary'
  if (bytes.length > textMergeBytesMax || countLines(bytes) > textLinesMax) return 'too-large'
  return undefined
}

export function splitLines(bytes: Uint8Array): TextLines {
  const count = countLines(bytes)
  const starts = new Uint32Array(count + 1)
  let line = 1
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === lineFeed) starts[line++] = at + 1
  starts[count] = bytes.length
  return { bytes, count, starts }
}

/** The bytes of `length` lines from line `start`: a view, not a copy. */
export function lineBytes(lines: TextLines, start: number, length: number): Uint8Array {
  return lines.bytes.subarray(lines.starts[start], lines.starts[start + length])
}

export function endsWithLineFeed(bytes: Uint8Array): boolean {
  return bytes[bytes.length - 1] === lineFeed
}

function countLines(bytes: Uint8Array): number {
  let count = 0
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === lineFeed) count++
  return bytes.length === 0 || endsWithLineFeed(bytes) ? count : count + 1
}
