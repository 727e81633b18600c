import { concatBytes } from '@cairn/protocol'
import type { TextLines } from './lines.ts'

/** Files as sequences of numbers: two lines have the same token if and only if they are equal. */
export interface InternedLines {
  /** One sequence per file, in the order given. */
  readonly tokens: readonly Int32Array[]
  /** Tokens are 0 … tokenCount − 1. */
  readonly tokenCount: number
}

/** Room for three files of `textLinesMax` lines, and with a 32-bit hash above it for a double. */
const linesTotalMax = 2 ** 21

/**
 * Sorts the lines by hash instead of filling a hash table, so that no choice of input is slow:
 * lines made to collide cost one more sort by their bytes, where a table would probe them in n²
 * steps.
 */
export function internLines(files: readonly TextLines[]): InternedLines {
  const all = joinFiles(files)
  const { hashes, order } = sortByHash(all)
  const tokens = new Int32Array(all.count)
  let token = -1
  for (let from = 0, to = 0; from < order.length; from = to) {
    while (to < order.length && hashes[to] === hashes[from]) to++
    gatherEqualLines(all, order, from, to)
    for (let at = from; at < to; at++) {
      if (at === from || compareLines(all, order[at - 1]!, order[at]!) !== 0) token++
      tokens[order[at]!] = token
    }
  }
  return { tokens: cutByFile(tokens, files), tokenCount: token + 1 }
}

function joinFiles(files: readonly TextLines[]): TextLines {
  const bytes = concatBytes(files.map((file) => file.bytes))
  const count = files.reduce((sum, file) => sum + file.count, 0)
  if (count > linesTotalMax) throw new RangeError(`cannot intern ${count} lines: too many`)
  const starts = new Uint32Array(count + 1)
  let line = 0
  let offset = 0
  for (const file of files) {
    for (let i = 0; i < file.count; i++) starts[line++] = offset + file.starts[i]!
    offset += file.bytes.length
  }
  starts[count] = offset
  return { bytes, count, starts }
}

/** Line numbers by ascending hash. Both make one double: numbers alone are sorted natively. */
function sortByHash(lines: TextLines): { hashes: Uint32Array; order: Uint32Array } {
  const keys = new Float64Array(lines.count)
  for (let line = 0; line < lines.count; line++) {
    keys[line] = hashLine(lines, line) * linesTotalMax + line
  }
  keys.sort()
  const hashes = new Uint32Array(lines.count)
  const order = new Uint32Array(lines.count)
  for (let at = 0; at < lines.count; at++) {
    hashes[at] = Math.floor(keys[at]! / linesTotalMax)
    order[at] = keys[at]! - hashes[at]! * linesTotalMax
  }
  return { hashes, order }
}

/** FNV-1a, 32 bits. */
function hashLine({ bytes, starts }: TextLines, line: number): number {
  const end = starts[line + 1]!
  let hash = 0x811c9dc5
  for (let at = starts[line]!; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193)
  return hash >>> 0
}

/** Brings equal lines of one hash next to each other. Nearly always they are: all are equal. */
function gatherEqualLines(lines: TextLines, order: Uint32Array, from: number, to: number): void {
  for (let at = from + 1; at < to; at++) {
    if (compareLines(lines, order[from]!, order[at]!) !== 0) {
      order.subarray(from, to).sort((a, b) => compareLines(lines, a, b))
      return
    }
  }
}

function compareLines({ bytes, starts }: TextLines, a: number, b: number): number {
  let atA = starts[a]!
  let atB = starts[b]!
  const lengthDifference = starts[a + 1]! - atA - (starts[b + 1]! - atB)
  if (lengthDifference !== 0) return lengthDifference
  for (const end = starts[a + 1]!; atA < end; atA++, atB++) {
    if (bytes[atA] !== bytes[atB]) return bytes[atA]! - bytes[atB]!
  }
  return 0
}

function cutByFile(tokens: Int32Array, files: readonly TextLines[]): Int32Array[] {
  let from = 0
  return files.map((file) => tokens.subarray(from, (from += file.count)))
}
