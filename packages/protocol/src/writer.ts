import type { ByteString } from './bytes.ts'
import { CairnError } from './errors.ts'

/**
 * Appends to a growing buffer. The counterpart of Reader; both follow docs/internals/format.md. It
 * refuses everything that Reader would refuse: an unreadable log must not be written.
 */
export class Writer {
  #bytes: Uint8Array
  #length = 0

  constructor(capacity = 256) {
    this.#bytes = new Uint8Array(capacity)
  }

  get length(): number {
    return this.#length
  }

  u8(value: number): this {
    this.#reserve(1)
    this.#bytes[this.#length++] = value
    return this
  }

  u16(value: number): this {
    return this.u8(value & 0xff).u8(value >>> 8)
  }

  u32(value: number): this {
    return this.u16(value & 0xffff).u16(value >>> 16)
  }

  /** LEB128, for whole numbers from 0 to 2^53 − 1. */
  varint(value: number, max: number = Number.MAX_SAFE_INTEGER): this {
    if (!(Number.isInteger(value) && value >= 0 && value <= max))
      throw unwritable(`number ${value}`, `want a whole one up to ${max}`)
    this.#reserve(8)
    while (value >= 0x80) {
      this.#bytes[this.#length++] = (value % 0x80) | 0x80
      value = Math.floor(value / 0x80)
    }
    this.#bytes[this.#length++] = value
    return this
  }

  positive(value: number): this {
    if (value === 0) throw unwritable('number 0', 'this one counts from 1')
    return this.varint(value)
  }

  /** Zigzag varint, for whole numbers from −2^52 to 2^52 − 1. */
  signed(value: number): this {
    if (!Number.isInteger(value)) throw unwritable(`number ${value}`, 'want a whole one')
    return this.varint(value < 0 ? -value * 2 - 1 : value * 2)
  }

  raw(bytes: Uint8Array): this {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
    return this
  }

  rawByteString(text: ByteString): this {
    this.#reserve(text.length)
    let bits = 0
    for (let i = 0; i < text.length; i++) {
      const byte = text.charCodeAt(i)
      bits |= byte
      this.#bytes[this.#length + i] = byte
    }
    if (bits > 0xff) throw unwritable('byte string', 'it has characters that are no bytes')
    this.#length += text.length
    return this
  }

  bytes(bytes: Uint8Array): this {
    return this.varint(bytes.length).raw(bytes)
  }

  /** What `write` appends, as `bytes` would have it: with its length before it. */
  sized(write: (writer: this) => void): this {
    const start = this.#length
    write(this.u8(0))
    const end = this.#length
    const length = end - start - 1
    if (length < 0x80) this.#bytes[start] = length
    else {
      const copy = this.#bytes.slice(start + 1, end)
      this.#length = start
      this.bytes(copy)
    }
    return this
  }

  byteString(text: ByteString): this {
    return this.varint(text.length).rawByteString(text)
  }

  /** The counterpart of `Reader.choice`. */
  choice<T>(choices: readonly T[], chosen: T): this {
    const number = choices.indexOf(chosen)
    if (number < 0) throw unwritable(`choice ${String(chosen)}`, 'it is not in the list')
    return this.u8(number)
  }

  /** Well-formed Unicode only: ids and labels, never file names. */
  text(text: string): this {
    if (!text.isWellFormed()) throw unwritable('text', 'it has half a surrogate pair')
    return this.bytes(utf8.encode(text))
  }

  /** What is written so far, until something more is. */
  get view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  /** A copy: the writer may be reused. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length)
  }

  reset(): this {
    this.#length = 0
    return this
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + count))
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }
}

function unwritable(what: string, why: string): CairnError {
  return new CairnError('malformed', { what: `write the ${what}`, reason: why })
}

const utf8 = new TextEncoder()
