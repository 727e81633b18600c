import { putAttributes, putEntry, putNoEntry, putTtl, putU64, entryBytes } from './encode.ts'
import type { Entry, AttributesAnswer } from './file-system.ts'

const headerBytes = 16

/** From here up a second part of the write costs less than a copy. */
const copyBytesMax = 16 << 10

/**
 * The reply that is made now, in one buffer for all: made and sent without a pause, it never meets another.
 * Late answers use it likewise, because their promises settle between two requests.
 */
export class Reply {
  readonly bytes: Buffer
  readonly words: Uint32Array
  #length = headerBytes
  #payload: Uint8Array | undefined

  constructor(sizeBytes: number) {
    const memory = new ArrayBuffer(sizeBytes)
    this.bytes = Buffer.from(memory)
    this.words = new Uint32Array(memory)
  }

  /** Sent after what is in the buffer, as part of the same reply. */
  get payload(): Uint8Array | undefined {
    return this.#payload
  }

  begin(): void {
    this.#length = headerBytes
    this.#payload = undefined
  }

  /** Fills in the header; gives the number of bytes to send from the buffer. */
  finish(uniqueLow: number, uniqueHigh: number): number {
    this.words[0] = this.#length + (this.#payload?.length ?? 0)
    this.words[1] = 0
    this.words[2] = uniqueLow
    this.words[3] = uniqueHigh
    return this.#length
  }

  /** A reply that is nothing but an errno. */
  fail(uniqueLow: number, uniqueHigh: number, errno: number): number {
    this.begin()
    this.finish(uniqueLow, uniqueHigh)
    this.words[1] = -errno
    return headerBytes
  }

  /** Room for `bytes`, a multiple of 4, at the end; gives the index of its first word. */
  grow(bytes: number): number {
    const at = this.#length >> 2
    this.#length += bytes
    return at
  }

  u32(value: number): void {
    this.words[this.grow(4)] = value
  }

  u64(value: number): void {
    putU64(this.words, this.grow(8), value)
  }

  entry(entry: Entry): void {
    putEntry(this.words, this.grow(entryBytes), entry)
  }

  noEntry(ttl: number): void {
    putNoEntry(this.words, this.grow(entryBytes), ttl)
  }

  attributes({ attributes, ttl }: AttributesAnswer): void {
    const at = this.grow(104)
    putTtl(this.words, at, at + 2, ttl)
    this.words[at + 3] = 0
    putAttributes(this.words, at + 4, attributes)
  }

  /** The last thing in a reply. Copied when it is small; otherwise it must stay as it is until it is sent. */
  data(data: Uint8Array): void {
    if (data.length >= copyBytesMax) {
      this.#payload = data
    } else {
      this.bytes.set(data, this.#length)
      this.#length += data.length
    }
  }

  dataParts(parts: readonly Uint8Array[]): void {
    if (parts.length === 1) return this.data(parts[0]!)
    for (const part of parts) {
      this.bytes.set(part, this.#length)
      this.#length += part.length
    }
  }
}
