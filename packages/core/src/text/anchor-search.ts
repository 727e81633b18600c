import type { Box, BoxCorner } from './box.ts'

/** Below one unique line in so many, a few moved lines could pull a whole box apart. */
const linesPerAnchorMax = 8
/** Lines read in all boxes of one search: a fraction of a second. */
const linesReadMax = 2 ** 23

/** Patience: lines that occur once on each side have only one possible partner. */
export class AnchorSearch {
  readonly #before: Int32Array
  readonly #after: Int32Array
  /** How often each token occurs among the old lines of a box. INVARIANT: zero between calls. */
  readonly #oldCounts: Int32Array
  /** Its place among the new ones plus 1, or −1 for several. INVARIANT: zero between calls. */
  readonly #newPlaces: Int32Array
  #linesRead = 0

  constructor(before: Int32Array, after: Int32Array, tokenCount: number) {
    this.#before = before
    this.#after = after
    this.#oldCounts = new Int32Array(tokenCount)
    this.#newPlaces = new Int32Array(tokenCount)
  }

  /**
   * The longest ascending chain of unique lines, which is a longest pairing of all lines if all are
   * unique. Undefined when unique lines are rare in this box, or enough lines have been read.
   */
  findChain(box: Box): BoxCorner[] | undefined {
    const oldCount = box.oldEnd - box.oldStart
    const newCount = box.newEnd - box.newStart
    this.#linesRead += oldCount + newCount
    if (this.#linesRead > linesReadMax) return undefined
    const anchors = this.#uniqueLines(box)
    const isRare = anchors.length * linesPerAnchorMax < Math.min(oldCount, newCount)
    return isRare ? undefined : longestAscending(anchors)
  }

  #uniqueLines({ oldStart, oldEnd, newStart, newEnd }: Box): BoxCorner[] {
    const before = this.#before
    const after = this.#after
    const oldCounts = this.#oldCounts
    const newPlaces = this.#newPlaces
    for (let line = oldStart; line < oldEnd; line++) oldCounts[before[line]!]!++
    for (let line = newStart; line < newEnd; line++) {
      newPlaces[after[line]!] = newPlaces[after[line]!] === 0 ? line + 1 : -1
    }
    const anchors: BoxCorner[] = []
    for (let line = oldStart; line < oldEnd; line++) {
      const place = newPlaces[before[line]!]!
      if (oldCounts[before[line]!] === 1 && place > 0) anchors.push({ old: line, new: place - 1 })
    }
    for (let line = oldStart; line < oldEnd; line++) oldCounts[before[line]!] = 0
    for (let line = newStart; line < newEnd; line++) newPlaces[after[line]!] = 0
    return anchors
  }
}

/** The longest run of anchors, in old order, that is in new order, too. */
function longestAscending(anchors: readonly BoxCorner[]): BoxCorner[] {
  // lasts[n] ends the chain of n + 1 anchors that ends earliest in the new file.
  const lasts: number[] = []
  const previous = new Int32Array(anchors.length).fill(-1)
  anchors.forEach((anchor, i) => {
    let low = 0
    for (let high = lasts.length; low < high;) {
      const middle = (low + high) >>> 1
      if (anchors[lasts[middle]!]!.new < anchor.new) low = middle + 1
      else high = middle
    }
    if (low > 0) previous[i] = lasts[low - 1]!
    lasts[low] = i
  })
  const chain: BoxCorner[] = []
  for (let i = lasts.at(-1) ?? -1; i >= 0; i = previous[i]!) chain.push(anchors[i]!)
  return chain.reverse()
}
