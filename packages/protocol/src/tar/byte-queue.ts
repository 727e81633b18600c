import { toByteString } from '../bytes.ts'

/** Chunks of any size in, pieces of a wanted size out. */
export class ByteQueue {
  readonly #chunks: AsyncIterator<Uint8Array>
  #current: Uint8Array = new Uint8Array()

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** Fewer only at the end. What is given may be a view of a chunk. */
  async take(count: number): Promise<Uint8Array> {
    if (this.#current.length >= count) return this.#cut(count)
    const pieces: Uint8Array[] = []
    for (let left = count; left > 0;) {
      if (this.#current.length === 0 && !(await this.#advance())) break
      const piece = this.#cut(Math.min(left, this.#current.length))
      pieces.push(piece)
      left -= piece.length
    }
    return joined(pieces)
  }

  /** The bytes before the next line feed, which is taken, too; undefined at the end. */
  async takeLine(): Promise<string | undefined> {
    let line = ''
    for (;;) {
      if (this.#current.length === 0 && !(await this.#advance())) return undefined
      const end = this.#current.indexOf(0x0a)
      line += toByteString(this.#cut(end < 0 ? this.#current.length : end))
      if (end < 0) continue
      this.#cut(1)
      return line
    }
  }

  #cut(count: number): Uint8Array {
    const piece = this.#current.subarray(0, count)
    this.#current = this.#current.subarray(count)
    return piece
  }

  async #advance(): Promise<boolean> {
    const { done, value } = await this.#chunks.next()
    if (done !== true) this.#current = value
    return done !== true
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  if (pieces.length === 1) return pieces[0]!
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}
