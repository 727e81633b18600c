import type { Box } from './box.ts'

/**
 * Pairs the equal lines at both ends of a box and gives what lies between them. Some longest
 * pairing has these pairs, and most edits leave little else.
 */
export function pairEqualEnds(
  box: Box,
  before: Int32Array,
  after: Int32Array,
  partners: Int32Array,
): Box {
  let { oldStart, oldEnd, newStart, newEnd } = box
  while (oldStart < oldEnd && newStart < newEnd && before[oldStart] === after[newStart]) {
    partners[oldStart++] = newStart++
  }
  while (oldStart < oldEnd && newStart < newEnd && before[oldEnd - 1] === after[newEnd - 1]) {
    partners[--oldEnd] = --newEnd
  }
  return { oldStart, oldEnd, newStart, newEnd }
}
