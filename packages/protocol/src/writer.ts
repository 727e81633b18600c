import type { ByteString } from './bytes.ts'

/** Appends to a growing buffer. The counterpart of Reader; both follow docs/internals/format.md. */
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
  varint(value: number): this {
    this.#reserve(8)
    while (value >= 0x80) {
      this.#bytes[this.#length++] = (value % 0x80) | 0x80
      value = Math.floor(value / 0x80)
    }
    this.#bytes[this.#length++] = value
    return this
  }

  /** Zigzag varint, for whole numbers from −2^52 to 2^52 − 1. */
  signed(value: number): this {
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
    for (let i = 0; i < text.length; i++) this.#bytes[this.#length + i] = text.charCodeAt(i)
    this.#length += text.length
    return this
  }

  bytes(bytes: Uint8Array): this {
    return this.varint(bytes.length).raw(bytes)
  }

  byteString(text: ByteString): this {
    return this.varint(text.length).rawByteString(text)
  }

  /** Well-formed Unicode only: ids and labels, never file names. */
  text(text: string): this {
    return this.bytes(utf8.encode(text))
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

const utf8 = new TextEncoder()
