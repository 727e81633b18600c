import type { ByteString } from '@cairn/protocol'
import type { KernelCaller } from './file-system.ts'

const high = 2 ** 32
/** In the upper half of `unique`. */
const resentBit = 2 ** 31

/**
 * The request that is in the buffer now. Valid until the next one is read over it, so code that
 * answers later copies what it needs first. Offsets are bytes from the start; 40 is the end of the
 * header.
 */
export class Request {
  readonly bytes: Buffer
  readonly #words: Uint32Array
  /** Set by an operation that wants to know when its caller has gone. */
  abort: AbortController | undefined
  length = 0

  constructor(memory: ArrayBuffer, sizeBytes: number = memory.byteLength) {
    this.bytes = Buffer.from(memory, 0, sizeBytes)
    this.#words = new Uint32Array(memory, 0, sizeBytes >> 2)
  }

  /** The same request, in memory of its own. */
  copy(): Request {
    const { buffer } = this.#words
    const copy = new Request(buffer.slice(0, (this.length + 3) & ~3) as ArrayBuffer)
    copy.begin(this.length)
    return copy
  }

  begin(length: number): void {
    this.length = length
    this.abort = undefined
  }

  get opcode(): number {
    return this.#words[1]!
  }

  get uniqueLow(): number {
    return this.#words[2]!
  }

  get uniqueHigh(): number {
    return this.#words[3]!
  }

  get nodeid(): number {
    return this.u64(16)
  }

  get pid(): number {
    return this.#words[8]!
  }

  get caller(): KernelCaller {
    const words = this.#words
    const upper = words[3]!
    const resent = upper >= resentBit
    const request = words[2]! + (resent ? upper - resentBit : upper) * high
    return { uid: words[6]!, gid: words[7]!, pid: words[8]!, request, resent }
  }

  u32(offset: number): number {
    return this.#words[offset >> 2]!
  }

  /** Exact up to 2^53; what is above is only ever "as far as it goes". */
  u64(offset: number): number {
    const at = offset >> 2
    return this.#words[at]! + this.#words[at + 1]! * high
  }

  i64(offset: number): number {
    const at = offset >> 2
    return this.#words[at]! + (this.#words[at + 1]! | 0) * high
  }

  hex64(offset: number): string {
    const at = offset >> 2
    const digits = (word: number): string => word.toString(16).padStart(8, '0')
    return digits(this.#words[at + 1]!) + digits(this.#words[at]!)
  }

  /** The name that ends the request. */
  lastName(offset: number): ByteString {
    return this.bytes.toString('latin1', offset, this.length - 1)
  }

  /** Where the string that begins at `offset` has its closing zero. */
  endOfName(offset: number): number {
    return this.bytes.indexOf(0, offset)
  }

  name(offset: number, end: number): ByteString {
    return this.bytes.toString('latin1', offset, end)
  }

  /** Not a Buffer: its `slice` would be a view as well, where callers expect a copy. */
  view(offset: number, length: number): Uint8Array {
    return new Uint8Array(this.#words.buffer, offset, length)
  }
}
