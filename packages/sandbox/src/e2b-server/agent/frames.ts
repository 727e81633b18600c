import type { Readable, Writable } from 'node:stream'
import { once } from 'node:events'

/** More than any list of entries needs; a jail that claims more is not believed. */
const frameBytesMax = 64 << 20

/** Takes frames off a pipe, one at a time. */
export class FrameReader {
  readonly #source: Readable
  #isEnded = false

  constructor(source: Readable) {
    this.#source = source
    source.on('end', () => (this.#isEnded = true))
    source.on('close', () => (this.#isEnded = true))
    source.on('error', () => (this.#isEnded = true))
  }

  /** Undefined when the other side is gone. */
  async next(): Promise<Buffer | undefined> {
    const head = await this.#take(4)
    if (head === undefined) return undefined
    const length = head.readUInt32BE()
    if (length > frameBytesMax) return undefined
    return length === 0 ? Buffer.alloc(0) : this.#take(length)
  }

  async #take(length: number): Promise<Buffer | undefined> {
    for (;;) {
      const bytes = this.#source.read(length) as Buffer | null
      // At its end a stream gives what is left, even if that is less.
      if (bytes !== null) return bytes.length === length ? bytes : undefined
      if (this.#isEnded) return undefined
      await changeOf(this.#source)
    }
  }
}

function changeOf(source: Readable): Promise<void> {
  return new Promise((resolve) => {
    const events = ['readable', 'end', 'close', 'error'] as const
    const done = (): void => {
      for (const event of events) source.off(event, done)
      resolve()
    }
    for (const event of events) source.on(event, done)
  })
}

/** Resolves when more may be sent; rejects when the other side is gone. */
export async function writeFrame(sink: Writable, bytes: Uint8Array): Promise<void> {
  const head = Buffer.alloc(4)
  head.writeUInt32BE(bytes.length)
  sink.write(head)
  if (bytes.length > 0 && !sink.write(bytes))
    await Promise.race([once(sink, 'drain'), closeOf(sink)])
}

async function closeOf(sink: Writable): Promise<never> {
  await once(sink, 'close')
  throw new Error('the pipe was closed')
}
