import type { Box, BoxCorner } from './box.ts'
import { SnakeFront } from './snake-front.ts'

/** Edits that each front may spend on a box: a shortest path of up to twice as many is found. */
const roundsMax = 512
/** Steps in all boxes of one search: about half a second, however hostile the input. */
const stepsMax = 2 ** 25

/** Where to cut a box in two. */
export interface Cut extends BoxCorner {
  /** A shortest path leads through this point. */
  readonly exact: boolean
}

/** Finds the middle of a shortest path of edits by walking a box from both ends at once. */
export class SnakeSearch {
  readonly #oldCount: number
  readonly #newCount: number
  readonly #forward: SnakeFront
  /** Walks the files backwards, so that it can be the same code: its points count from the end. */
  readonly #backward: SnakeFront

  constructor(before: Int32Array, after: Int32Array) {
    this.#oldCount = before.length
    this.#newCount = after.length
    this.#forward = new SnakeFront(before, after, roundsMax)
    this.#backward = new SnakeFront(before.toReversed(), after.toReversed(), roundsMax)
  }

  /**
   * The box must have lines on both sides, and unequal ones at both ends. Without `exact`, the
   * point is merely the furthest from its end of the box. Undefined once all steps are spent.
   */
  findCut(box: Box): Cut | undefined {
    this.#forward.enter(box)
    this.#backward.enter(this.#fromEnd(box))
    // After equal numbers of edits, the fronts stand on the same diagonals only if this is even.
    const even = (box.oldEnd - box.oldStart - (box.newEnd - box.newStart)) % 2 === 0
    for (let round = 1; round <= roundsMax; round++) {
      if (this.#forward.steps + this.#backward.steps > stepsMax) return undefined
      const ahead = this.#forward.advance(even ? undefined : this.#backward)
      if (ahead !== undefined) return { ...this.#forward.pointOn(ahead), exact: true }
      const behind = this.#backward.advance(even ? this.#forward : undefined)
      if (behind !== undefined) return { ...this.#backwardPointOn(behind), exact: true }
    }
    return this.#furthest(box)
  }

  #furthest(box: Box): Cut {
    const ahead = this.#forward.pointOn(this.#forward.furthest())
    const behind = this.#backwardPointOn(this.#backward.furthest())
    const aheadLines = ahead.old - box.oldStart + (ahead.new - box.newStart)
    const behindLines = box.oldEnd - behind.old + (box.newEnd - behind.new)
    return { ...(aheadLines >= behindLines ? ahead : behind), exact: false }
  }

  #backwardPointOn(k: number): BoxCorner {
    const point = this.#backward.pointOn(k)
    return { old: this.#oldCount - point.old, new: this.#newCount - point.new }
  }

  #fromEnd(box: Box): Box {
    return {
      oldStart: this.#oldCount - box.oldEnd,
      oldEnd: this.#oldCount - box.oldStart,
      newStart: this.#newCount - box.newEnd,
      newEnd: this.#newCount - box.newStart,
    }
  }
}
