import { AnchorSearch } from './anchor-search.ts'
import type { Box, BoxCorner } from './box.ts'
import { pairEqualEnds } from './equal-ends.ts'
import { SnakeSearch } from './snake-search.ts'

/**
 * Pairs equal lines in ascending order, as many as possible: the partner of each old line, or −1.
 *
 * A box is cut in two at a point on a shortest path (Myers, in linear memory). Where that path has
 * more than about a thousand edits it is not searched to its end. If many lines are unique, the
 * longest chain of them is nearly the answer and cuts the box into many; otherwise the cut is where
 * the search got furthest. When the work allowed for one call is spent, what is still open stays
 * unpaired: a coarse answer, but a right one, and soon.
 */
export function matchLines(before: Int32Array, after: Int32Array, tokenCount: number): Int32Array {
  const partners = new Int32Array(before.length).fill(-1)
  const snakes = new SnakeSearch(before, after)
  const anchors = new AnchorSearch(before, after, tokenCount)
  // A stack of our own: heuristic cuts can nest as deep as the file is long.
  const open: Box[] = [{ oldStart: 0, oldEnd: before.length, newStart: 0, newEnd: after.length }]
  for (let box = open.pop(); box !== undefined; box = open.pop()) {
    const inner = pairEqualEnds(box, before, after, partners)
    if (inner.oldStart === inner.oldEnd || inner.newStart === inner.newEnd) continue
    const cut = snakes.findCut(inner)
    if (cut === undefined) continue
    const chain = cut.exact ? undefined : anchors.findChain(inner)
    for (const piece of cutBox(inner, chain ?? [cut])) open.push(piece)
  }
  return partners
}

/** A cut at a pair of equal lines leaves both of them at the start of the box behind it. */
function cutBox(box: Box, points: readonly BoxCorner[]): Box[] {
  const ends = [...points, { old: box.oldEnd, new: box.newEnd }]
  let { oldStart, newStart } = box
  return ends.map((end) => {
    const piece = { oldStart, oldEnd: end.old, newStart, newEnd: end.new }
    oldStart = end.old
    newStart = end.new
    return piece
  })
}
