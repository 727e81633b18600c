import type { Readable, Writable } from 'node:stream'
import { roomIn } from '../room.ts'

/** More than any list of entries needs; a jail that claims more is not believed. */
const frameBytesMax = 64 << 20

/** Takes frames off a pipe, one at a time. */
export class FrameReader {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(source: Readable) {
    this.#chunks = (source as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  }

  /** Undefined when the other side is gone. */
  async next(): Promise<Buffer | undefined> {
    const head = await this.#take(4)
    const length = head?.readUInt32BE() ?? frameBytesMax + 1
    return length > frameBytesMax ? undefined : this.#take(length)
  }

  async #take(length: number): Promise<Buffer | undefined> {
    const parts = [this.#rest]
    let size = this.#rest.length
    while (size < length) {
      const chunk = await this.#chunks.next().catch(() => undefined)
      if (chunk === undefined || chunk.done) return undefined
      parts.push(chunk.value)
      size += chunk.value.length
    }
    const bytes = parts.length === 1 ? this.#rest : Buffer.concat(parts)
    this.#rest = bytes.subarray(length)
    return bytes.subarray(0, length)
  }
}

/** Resolves when more may be sent. */
export async function writeFrame(sink: Writable, bytes: Uint8Array): Promise<void> {
  const head = Buffer.alloc(4)
  head.writeUInt32BE(bytes.length)
  sink.write(head)
  if (bytes.length > 0 && !sink.write(bytes)) await roomIn(sink)
}
