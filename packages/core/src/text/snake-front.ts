import type { Box, BoxCorner } from './box.ts'

/** Far below zero, so that steps from there still count as unreached. */
const unreached = -(2 ** 30)

/**
 * How far one comes from the start of a box with so many edits. Diagonal k holds the points with k
 * more old than new lines behind them; a pair of equal lines costs nothing and stays on its
 * diagonal.
 */
export class SnakeFront {
  readonly #before: Int32Array
  readonly #after: Int32Array
  /**
   * The furthest number of old lines passed on diagonal k, at k + center. INVARIANT: meaningful for
   * |k| ≤ round + 1; what lies beyond is left over from other boxes.
   */
  readonly #reach: Int32Array
  readonly #center: number
  #box: Box = { oldStart: 0, oldEnd: 0, newStart: 0, newEnd: 0 }
  #round = 0
  /** Diagonals looked at and pairs followed since the front was made. */
  steps = 0

  constructor(before: Int32Array, after: Int32Array, roundsMax: number) {
    this.#before = before
    this.#after = after
    this.#center = roundsMax + 1
    this.#reach = new Int32Array(2 * roundsMax + 3)
  }

  /** Stands at the start of a box whose first lines differ: without an edit, there is no way. */
  enter(box: Box): void {
    this.#box = box
    this.#round = 0
    this.#reach.fill(unreached, this.#center - 1, this.#center + 2)
    this.#reach[this.#center] = 0
  }

  /**
   * Spends one more edit on each diagonal, then follows equal lines. Gives the diagonal on which
   * `opposite`, a front that walks the same box from its end, was met or passed.
   */
  advance(opposite: SnakeFront | undefined): number | undefined {
    const before = this.#before
    const after = this.#after
    const reach = this.#reach
    const center = this.#center
    const { oldStart, newStart } = this.#box
    const oldCount = this.#box.oldEnd - oldStart
    const newCount = this.#box.newEnd - newStart
    const round = ++this.#round
    reach[center - round - 1] = unreached
    reach[center + round + 1] = unreached
    // Diagonals further out end at the edge of the box after fewer edits than this.
    const lowest = round <= newCount ? -round : round - 2 * newCount
    const highest = round <= oldCount ? round : 2 * oldCount - round
    let steps = 0
    let met: number | undefined
    for (let k = lowest; k <= highest && met === undefined; k += 2) {
      const removed = reach[center + k - 1]! + 1
      const added = reach[center + k + 1]!
      const end = Math.min(oldCount, newCount + k)
      // An edit out of the box counts as reaching its edge: the distances of neighbouring points
      // differ by one, so the last point inside is at most this many edits away.
      let x = Math.min(Math.max(removed, added), end)
      if (x < 0) continue
      const start = x
      while (x < end && before[oldStart + x] === after[newStart + x - k]) x++
      reach[center + k] = x
      steps += x - start + 1
      if (opposite !== undefined && x + opposite.#reachOn(oldCount - newCount - k) >= oldCount) {
        met = k
      }
    }
    this.steps += steps
    return met
  }

  pointOn(k: number): BoxCorner {
    const x = this.#reach[this.#center + k]!
    return { old: this.#box.oldStart + x, new: this.#box.newStart + x - k }
  }

  /** The diagonal on which most lines are behind us. */
  furthest(): number {
    let best = this.#round
    for (let k = -this.#round; k <= this.#round; k += 2) {
      if (2 * this.#reachOn(k) - k > 2 * this.#reachOn(best) - best) best = k
    }
    return best
  }

  #reachOn(k: number): number {
    return Math.abs(k) <= this.#round ? this.#reach[this.#center + k]! : unreached
  }
}
