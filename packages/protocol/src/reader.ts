import { type ByteString, toByteString } from './bytes.ts'
import { CairnError } from './errors.ts'

/**
 * Reads what Writer wrote. Every length is checked against what is left before anything is allocated,
 * so that hostile input costs no more memory than its own size.
 */
export class Reader {
  readonly #bytes: Uint8Array
  #at: number
  readonly #what: string

  /** `what` is named in errors: 'batch', 'inode' … */
  constructor(bytes: Uint8Array, what: string) {
    this.#bytes = bytes
    this.#at = 0
    this.#what = what
  }

  get remaining(): number {
    return this.#bytes.length - this.#at
  }

  u8(): number {
    this.#need(1)
    return this.#bytes[this.#at++]!
  }

  u16(): number {
    return this.u8() + this.u8() * 0x100
  }

  u32(): number {
    return this.u16() + this.u16() * 0x10000
  }

  varint(max: number = Number.MAX_SAFE_INTEGER): number {
    let value = 0
    for (let scale = 1, count = 0; count < 8; count++, scale *= 0x80) {
      const byte = this.u8()
      value += (byte & 0x7f) * scale
      if (byte < 0x80) {
        // One number, one spelling: otherwise equal values could have different hashes.
        if (byte === 0 && count > 0) throw this.malformed('a padded number')
        if (value > max) break
        return value
      }
    }
    throw this.malformed(`a number above ${max}`)
  }

  /** Reads a number that counts from 1. */
  positive(): number {
    const value = this.varint()
    if (value === 0) throw this.malformed('a zero')
    return value
  }

  signed(): number {
    const zigzag = this.varint()
    return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2
  }

  /** A view into the input, not a copy. */
  raw(length: number): Uint8Array {
    this.#need(length)
    const bytes = this.#bytes.subarray(this.#at, this.#at + length)
    this.#at += length
    return bytes
  }

  bytes(): Uint8Array {
    return this.raw(this.varint())
  }

  rawByteString(length: number): ByteString {
    return toByteString(this.raw(length))
  }

  byteString(): ByteString {
    return toByteString(this.bytes())
  }

  text(): string {
    const bytes = this.bytes()
    try {
      return utf8.decode(bytes)
    } catch (cause) {
      throw this.malformed('text that is not UTF-8', cause)
    }
  }

  /** A count of things that take at least `bytesEach` bytes each. */
  count(bytesEach = 1): number {
    const count = this.varint()
    if (count * bytesEach > this.remaining) throw this.malformed(`a count of ${count}`)
    return count
  }

  /** One of a list that only ever grows at its end: a number behind the end comes from a newer writer. */
  choice<T>(choices: readonly T[], what: string): T {
    const number = this.u8()
    if (number < choices.length) return choices[number]!
    throw this.unsupported(`${what} ${number}`)
  }

  /** Call last: trailing bytes would give one value two spellings. */
  end(): void {
    if (this.remaining > 0) throw this.malformed(`${this.remaining} bytes too many`)
  }

  malformed(found: string, cause?: unknown): CairnError {
    return new CairnError('malformed', {
      what: `read the ${this.#what}`,
      reason: `found ${found} near byte ${this.#at}`,
      subject: this.#what,
      cause,
    })
  }

  unsupported(found: string): CairnError {
    return new CairnError('unsupported_version', {
      what: `read the ${this.#what}`,
      reason: `it has ${found}`,
      subject: this.#what,
    })
  }

  #need(count: number): void {
    if (count > this.remaining) throw this.malformed('its end too early')
  }
}

// By default a decoder swallows a byte-order mark, and two texts would read as one.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
