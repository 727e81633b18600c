import { PatternError } from './ast.ts'
import type { Cursor } from './cursor.ts'
import { classEscape, type EscapeFlags, readCode } from './escapes.ts'
import {
  byteMax,
  codePointMax,
  intersect,
  negate,
  type CodeRanges,
  subtract,
  union,
} from './ranges.ts'
import { foldAscii, foldCase } from './unicode.ts'

const named: Readonly<Record<string, CodeRanges>> = {
  alnum: [0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a],
  alpha: [0x41, 0x5a, 0x61, 0x7a],
  ascii: [0x00, 0x7f],
  blank: [0x09, 0x09, 0x20, 0x20],
  cntrl: [0x00, 0x1f, 0x7f, 0x7f],
  digit: [0x30, 0x39],
  graph: [0x21, 0x7e],
  lower: [0x61, 0x7a],
  print: [0x20, 0x7e],
  punct: [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e],
  space: [0x09, 0x0d, 0x20, 0x20],
  upper: [0x41, 0x5a],
  word: [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a],
  xdigit: [0x30, 0x39, 0x41, 0x46, 0x61, 0x66],
}

const depthMax = 50

/** Reads a class such as `[^a-z&&[:alpha:]]`; the cursor stands after its opening bracket. */
export function parseClass(cursor: Cursor, flags: EscapeFlags, depth = 0): CodeRanges {
  if (depth > depthMax) throw new PatternError('its classes are nested too deeply')
  const max = flags.isUnicode ? codePointMax : byteMax
  const isNegated = cursor.take('^')
  let set = parseUnion(cursor, flags, depth, true)
  for (;;) {
    if (cursor.take('&&')) set = intersect(set, parseUnion(cursor, flags, depth, false))
    else if (cursor.take('--')) set = subtract(set, parseUnion(cursor, flags, depth, false), max)
    else if (cursor.take('~~')) {
      const other = parseUnion(cursor, flags, depth, false)
      set = union(subtract(set, other, max), subtract(other, set, max))
    } else break
  }
  if (!cursor.take(']')) throw new PatternError(`its class has no closing bracket`)
  const folded = flags.ignoreCase ? (flags.isUnicode ? foldCase(set) : foldAscii(set)) : set
  return isNegated ? negate(folded, max) : folded
}

/** Members up to an operator or the closing bracket. A bracket that comes first is a member. */
function parseUnion(
  cursor: Cursor,
  flags: EscapeFlags,
  depth: number,
  isFirst: boolean,
): CodeRanges {
  const sets: CodeRanges[] = []
  if (isFirst && cursor.take(']')) sets.push([0x5d, 0x5d])
  while (isFirst && cursor.peek() === '-' && cursor.peek(1) !== '-') {
    cursor.next()
    sets.push([0x2d, 0x2d])
  }
  while (!cursor.isEnd && cursor.peek() !== ']') {
    if (['&&', '--', '~~'].some((operator) => cursor.startsWith(operator))) break
    sets.push(parseItem(cursor, flags, depth))
  }
  return union(...sets)
}

function parseItem(cursor: Cursor, flags: EscapeFlags, depth: number): CodeRanges {
  if (cursor.startsWith('[:')) {
    const set = readNamed(cursor, flags)
    if (set) return set
  }
  if (cursor.take('[')) return parseClass(cursor, { ...flags, ignoreCase: false }, depth + 1)
  if (cursor.peek() === '\\') {
    const set = classEscape(cursor, flags)
    if (set) return set
  }
  const first = readMember(cursor, flags)
  const isRange = cursor.peek() === '-' && cursor.peek(1) !== ']' && cursor.peek(1) !== '-'
  if (!isRange) return [first, first]
  cursor.next()
  const last = readMember(cursor, flags)
  if (last < first) throw new PatternError('a range in its class ends before it begins')
  return [first, last]
}

function readMember(cursor: Cursor, flags: EscapeFlags): number {
  return cursor.peek() === '\\' ? readCode(cursor, flags) : cursor.next().codePointAt(0)!
}

function readNamed(cursor: Cursor, flags: EscapeFlags): CodeRanges | undefined {
  const match = /^\[:(\^?)([a-z]+):\]/.exec(cursor.rest(20))
  const set = match && named[match[2]!]
  if (!match || !set) return undefined
  cursor.skip(match[0].length)
  return match[1] === '^' ? negate(set, flags.isUnicode ? codePointMax : byteMax) : set
}
