import { pairEqualEnds } from './equal-ends.ts'
import { type Hunk, hunksBetween } from './hunk.ts'
import { internLines } from './intern-lines.ts'
import type { TextLines } from './lines.ts'
import { matchLines } from './match-lines.ts'
import { slideHunks } from './slide-hunks.ts'

/** What has to be replaced in `before` to make `after`; empty when they are equal. */
export function diffLines(before: TextLines, after: TextLines): Hunk[] {
  const { tokens, tokenCount } = internLines([before, after])
  return diffTokens(tokens[0]!, tokens[1]!, tokenCount)
}

/**
 * The same for interned lines. The fewest possible lines are removed and added, unless the files
 * are so large and so different that `matchLines` gives up; the hunks are right in any case.
 *
 * Where lines repeat there can be several shortest diffs, and the one found here need not be git's.
 * A merge then decides about other hunks, and now and then otherwise than git: one of the two sees
 * changes touch that the other sees apart.
 */
export function diffTokens(before: Int32Array, after: Int32Array, tokenCount: number): Hunk[] {
  const partners = new Int32Array(before.length).fill(-1)
  const whole = { oldStart: 0, oldEnd: before.length, newStart: 0, newEnd: after.length }
  const { oldStart, oldEnd, newStart, newEnd } = pairEqualEnds(whole, before, after, partners)
  const oldPresent = findPresent(before, oldStart, oldEnd, tokenCount)
  const newPresent = findPresent(after, newStart, newEnd, tokenCount)
  const oldKept = linesAlsoIn(newPresent, before, oldStart, oldEnd)
  const newKept = linesAlsoIn(oldPresent, after, newStart, newEnd)
  const oldTokens = oldKept.map((line) => before[line]!)
  const newTokens = newKept.map((line) => after[line]!)
  const matches = matchLines(oldTokens, newTokens, tokenCount)
  for (let i = 0; i < matches.length; i++) {
    if (matches[i]! >= 0) partners[oldKept[i]!] = newKept[matches[i]!]!
  }
  return slideHunks(hunksBetween(partners, after.length), before, after)
}

/** Which tokens occur in a range of lines. */
function findPresent(
  lines: Int32Array,
  start: number,
  end: number,
  tokenCount: number,
): Uint8Array {
  const present = new Uint8Array(tokenCount)
  for (let line = start; line < end; line++) present[lines[line]!] = 1
  return present
}

/** A line that the other file lacks can have no partner, and without it the search is smaller. */
function linesAlsoIn(
  present: Uint8Array,
  lines: Int32Array,
  start: number,
  end: number,
): Int32Array {
  const kept = new Int32Array(end - start)
  let count = 0
  for (let line = start; line < end; line++) if (present[lines[line]!] === 1) kept[count++] = line
  return kept.subarray(0, count)
}
