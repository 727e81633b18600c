import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  compareBytes,
  concatBytes,
  equalBytes,
  fromByteString,
  fromHex,
  toByteString,
  toHex,
} from './bytes.ts'
import { type Hash, formatHash, parseHash } from './ids.ts'

const bytes = fc.uint8Array({ maxLength: 40 })

describe('byte string', () => {
  it('holds any bytes, of any length', () => {
    fc.assert(
      fc.property(bytes, (any) => {
        expect(fromByteString(toByteString(any))).toEqual(any)
      }),
    )
    for (const length of [0, 1, 4095, 4096, 4097, 100_000, 1 << 20]) {
      const large = Uint8Array.from({ length }, (_, i) => (i * 7) & 0xff)
      expect(equalBytes(fromByteString(toByteString(large)), large)).toBe(true)
    }
  })

  it('orders as its bytes do', () => {
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        const [x, y] = [toByteString(a), toByteString(b)]
        expect(Math.sign(compareBytes(a, b))).toBe(x < y ? -1 : x > y ? 1 : 0)
      }),
    )
  })
})

describe('hexadecimal', () => {
  it('comes back, in either case', () => {
    fc.assert(
      fc.property(bytes, (any) => {
        const text = toByteString(any)
        expect(fromHex(toHex(text))).toBe(text)
        expect(fromHex(toHex(text).toUpperCase())).toBe(text)
      }),
    )
  })

  it.each(['0', '0g', ' 00', '0x00', '00\n', '\u0660\u0660'])('%j is none', (hex) => {
    expect(fromHex(hex)).toBe(undefined)
  })
})

describe('hash', () => {
  it('a hash is shown as 64 digits and read back', () => {
    const hash = '\0\xff'.repeat(16) as Hash
    expect(formatHash(hash)).toBe('00ff'.repeat(16))
    expect(parseHash('00ff'.repeat(16))).toBe(hash)
  })

  it.each(['', '00', '0'.repeat(63), '0'.repeat(66), 'z'.repeat(64)])('%j is none', (hex) => {
    expect(() => parseHash(hex)).toThrow(expect.objectContaining({ code: 'malformed' }))
  })
})

describe('bytes', () => {
  it('bytes are equal when they compare as equal', () => {
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        expect(equalBytes(a, b)).toBe(compareBytes(a, b) === 0)
        expect(equalBytes(a, a.slice())).toBe(true)
      }),
    )
  })

  it('joined are one after the other', () => {
    fc.assert(
      fc.property(fc.array(bytes), (parts) => {
        expect([...concatBytes(parts)]).toEqual(parts.flatMap((part) => [...part]))
      }),
    )
  })
})
