/** Fetched by one request. */
export const runBytesMax: number = 1 << 20
/** The server makes answers of 8 MiB for a session at a time: more would wait there, and memory with it. */
const aheadBytesMax = 6 << 20
/** The kernel reads ahead as well, and its requests overtake each other by so much. */
const slackBytes = 1 << 20

/** How far ahead of one file's reader to fetch. It grows with what was read in order, and a jump ends it. */
export class ReadAhead {
  #expected = -1
  #inOrder = 0
  /** Asked for already, up to here. */
  issuedTo = 0

  /** A reader wants these bytes. Returns up to where they should be on their way. */
  note(offset: number, end: number): number {
    const isInOrder = this.#expected >= 0 && Math.abs(offset - this.#expected) <= slackBytes
    if (isInOrder) {
      this.#inOrder += end - offset
      this.#expected = Math.max(this.#expected, end)
    } else {
      this.#inOrder = 0
      this.#expected = end
      this.issuedTo = 0
    }
    return end + Math.min(aheadBytesMax, 2 * this.#inOrder)
  }
}
