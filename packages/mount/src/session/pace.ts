/** After a break at least this much is tried at once; more once that has got through. */
export const bytesMin: number = 16 << 10
/** From here on a connection is as good as any, and nothing is held back. */
const bytesMax = 32 << 20

/**
 * How much may be on its way and unanswered. Whatever a connection had not answered when it broke is sent again over the
 * next one; with a hundred megabytes of that, a link that breaks soon carries only their beginning, again and again, and
 * the server is busy with requests whose answers will be lost. So a break lowers the limit to what got through before
 * it, and each answer raises it.
 */
export class Pace {
  #limit = Infinity
  #onTheWay = 0
  #arrived = 0
  #isHolding = false

  /** Something was held back since this was last asked. */
  takeHolding(): boolean {
    const isHolding = this.#isHolding
    this.#isHolding = false
    return isHolding
  }

  /** A message should have no more bytes than this. One that has more goes in pieces. */
  get messageBytes(): number {
    return this.#limit
  }

  /** Whether something more may be sent; then it counts. */
  send(bytes: number): boolean {
    if (this.#onTheWay > 0 && this.#onTheWay + bytes > this.#limit) {
      this.#isHolding = true
      return false
    }
    this.#onTheWay += bytes
    return true
  }

  answered(bytes: number): void {
    this.#onTheWay -= bytes
    this.#arrived += bytes
    this.#limit += bytes
    if (this.#limit >= bytesMax) this.#limit = Infinity
  }

  /** So much of a message that has no answer yet got through. The limit stays: see `inPieces`. */
  progressed(bytes: number): void {
    this.#arrived += bytes
  }

  /** The connection broke. Where nothing was on its way, that says nothing about how much it carries. */
  noteBroken(): void {
    const carried = this.#arrived > 0 ? this.#arrived : Math.min(this.#limit, bytesMax) / 4
    if (this.#onTheWay > 0) this.#limit = Math.max(bytesMin, carried)
    this.#onTheWay = 0
    this.#arrived = 0
    this.#isHolding = false
  }
}
