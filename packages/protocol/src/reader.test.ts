import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toByteString } from './bytes.ts'
import { isCairnError } from './errors.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

const read = (...bytes: number[]): Reader => new Reader(Uint8Array.from(bytes), 'thing')
const written = (write: (writer: Writer) => unknown): number[] => {
  const writer = new Writer(1)
  write(writer)
  return [...writer.finish()]
}
const malformed = expect.objectContaining({ code: 'malformed' })

/** What to write, what to read, and any value that both take. */
const pairs = {
  u8: [fc.nat(0xff), (w, v) => w.u8(v), (r) => r.u8()],
  u16: [fc.nat(0xffff), (w, v) => w.u16(v), (r) => r.u16()],
  u32: [fc.nat(0xffff_ffff), (w, v) => w.u32(v), (r) => r.u32()],
  varint: [fc.maxSafeNat(), (w, v) => w.varint(v), (r) => r.varint()],
  positive: [fc.integer({ min: 1 }), (w, v) => w.positive(v), (r) => r.positive()],
  signed: [
    fc.integer({ min: -(2 ** 52), max: 2 ** 52 - 1 }),
    (w, v) => w.signed(v),
    (r) => r.signed(),
  ],
} satisfies Record<
  string,
  [fc.Arbitrary<number>, (writer: Writer, value: number) => Writer, (reader: Reader) => number]
>

describe('writer and reader', () => {
  it.each(Object.entries(pairs))('%s: comes back as it was', (_, [any, write, readBack]) => {
    fc.assert(
      fc.property(fc.array(any), (values) => {
        const writer = new Writer(1)
        for (const value of values) write(writer, value)
        const reader = new Reader(writer.finish(), 'thing')
        expect(values.map(() => readBack(reader))).toEqual(values)
        reader.end()
      }),
    )
  })

  it('bytes, byte strings and texts come back as they were', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.string({ unit: 'binary' }), (bytes, text) => {
        const writer = new Writer(1).bytes(bytes).byteString(toByteString(bytes)).text(text)
        writer.raw(bytes).rawByteString(toByteString(bytes))
        const reader = new Reader(writer.finish(), 'thing')
        expect(reader.bytes()).toEqual(bytes)
        expect(reader.byteString()).toBe(toByteString(bytes))
        expect(reader.text()).toBe(text)
        expect(reader.raw(bytes.length)).toEqual(bytes)
        expect(reader.rawByteString(bytes.length)).toBe(toByteString(bytes))
        reader.end()
      }),
    )
  })

  it('any bytes, read as any of them: a value that is written the same, or malformed', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 10 }),
        fc.constantFrom(...Object.values(pairs)),
        (bytes, [, write, readBack]) => {
          const reader = new Reader(bytes, 'thing')
          let value: number
          try {
            value = readBack(reader)
          } catch (error) {
            expect(isCairnError(error, 'malformed')).toBe(true)
            return
          }
          const length = bytes.length - reader.remaining
          const writer = new Writer()
          write(writer, value)
          expect(writer.finish()).toEqual(bytes.subarray(0, length))
        },
      ),
      { numRuns: 500 },
    )
  })
})

describe('varint', () => {
  it.each([
    [0, [0]],
    [127, [0x7f]],
    [128, [0x80, 1]],
    [16_383, [0xff, 0x7f]],
    [16_384, [0x80, 0x80, 1]],
    [2 ** 32, [0x80, 0x80, 0x80, 0x80, 0x10]],
    [Number.MAX_SAFE_INTEGER, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]],
  ])('%i has one spelling', (value, bytes) => {
    expect(written((w) => w.varint(value))).toEqual(bytes)
    expect(read(...bytes).varint()).toBe(value)
  })

  it.each([
    ['padded', [0x80, 0]],
    ['padded behind its end', [0xff, 0x80, 0]],
    ['2^53', [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10]],
    ['of nine bytes', [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]],
    ['that does not end', [0xff]],
    ['of no bytes', []],
  ])('%s: malformed', (_, bytes) => {
    expect(() => read(...bytes).varint()).toThrow(malformed)
  })

  it('above what its place takes: neither read nor written', () => {
    expect(read(5).varint(5)).toBe(5)
    expect(() => read(6).varint(5)).toThrow('a number above 5')
    expect(() => written((w) => w.varint(6, 5))).toThrow(malformed)
  })

  it.each([-1, 0.5, NaN, Infinity, 2 ** 53])('%d: not written', (value) => {
    expect(() => written((w) => w.varint(value))).toThrow(malformed)
    expect(() => written((w) => w.positive(value))).toThrow(malformed)
  })

  it('zero, where numbers count from 1: neither read nor written', () => {
    expect(() => read(0).positive()).toThrow(malformed)
    expect(() => written((w) => w.positive(0))).toThrow(malformed)
  })
})

describe('signed', () => {
  it.each([
    [0, [0]],
    [-1, [1]],
    [1, [2]],
    [-64, [0x7f]],
    [64, [0x80, 1]],
  ])('%i is zigzag', (value, bytes) => {
    expect(written((w) => w.signed(value))).toEqual(bytes)
  })

  it.each([2 ** 52, -(2 ** 52) - 1, 0.5, NaN])('%d: not written', (value) => {
    expect(() => written((w) => w.signed(value))).toThrow(malformed)
  })
})

describe('fixed numbers', () => {
  it('fixed numbers are little-endian', () => {
    expect(written((w) => w.u16(0x0102).u32(0x03040506))).toEqual([2, 1, 6, 5, 4, 3])
    expect(read(0xff, 0xff, 0xff, 0xff).u32()).toBe(0xffff_ffff)
  })
})

describe('text', () => {
  it('a byte-order mark stays: two texts do not read as one', () => {
    const bytes = written((w) => w.text('\ufeffa'))
    expect(bytes).toEqual([4, 0xef, 0xbb, 0xbf, 97])
    expect(read(...bytes).text()).toBe('\ufeffa')
  })

  it.each([
    ['a stray byte', [1, 0xff]],
    ['half a character', [1, 0xc3]],
    ['an overlong one', [2, 0xc0, 0x80]],
    ['half a surrogate pair', [3, 0xed, 0xa0, 0x80]],
  ])('%s is not UTF-8: malformed', (_, bytes) => {
    expect(() => read(...bytes).text()).toThrow('not UTF-8')
  })

  it('half a surrogate pair: not written', () => {
    expect(() => written((w) => w.text('a\ud800'))).toThrow(malformed)
  })

  it('a character that is no byte: not written as one', () => {
    expect(() => written((w) => w.byteString('ā'))).toThrow(malformed)
  })
})

describe('choice', () => {
  const choices = ['a', 'b'] as const

  it('a choice is its place in the list', () => {
    expect(written((w) => w.choice(choices, 'b'))).toEqual([1])
    expect(read(1).choice(choices, 'letter')).toBe('b')
  })

  it('behind the end of the list: from a newer version', () => {
    expect(() => read(2).choice(choices, 'letter')).toThrow(
      expect.objectContaining({
        code: 'unsupported_version',
        message: expect.stringMatching(/^cannot read the thing: it has letter 2\. /),
      }),
    )
  })

  it('not in the list: not written', () => {
    expect(() => written((w) => w.choice<string>(choices, 'c'))).toThrow(malformed)
  })
})

describe('reader', () => {
  it('lengths and counts are checked before anything is made', () => {
    const huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]
    expect(() => read(...huge, 1).bytes()).toThrow('its end too early')
    expect(() => read(...huge, 1).text()).toThrow('its end too early')
    expect(() => read(...huge, 1).count()).toThrow('a count of')
    expect(read(2, 0, 0, 0, 0).count(2)).toBe(2)
    expect(() => read(2, 0, 0, 0).count(2)).toThrow('a count of 2')
  })

  it('trailing bytes: malformed', () => {
    const reader = read(1, 2, 3)
    reader.u8()
    expect(reader.remaining).toBe(2)
    expect(() => reader.end()).toThrow('2 bytes too many')
  })

  it('says what it was reading, and where', () => {
    const reader = read(1)
    reader.u8()
    expect(() => reader.u8()).toThrow(
      expect.objectContaining({
        subject: 'thing',
        message: expect.stringMatching(
          /^cannot read the thing: found its end too early near byte 1\. /,
        ),
      }),
    )
  })
})

describe('writer', () => {
  it('what it gave is not changed by what it writes next', () => {
    const writer = new Writer(4).u8(1).u8(2)
    const first = writer.finish()
    writer.reset().u8(9)
    expect([...first]).toEqual([1, 2])
    expect([...writer.finish()]).toEqual([9])
    expect(writer.length).toBe(1)
  })

  it.each([0, 1, 127, 128, 16_383, 16_384])('%i bytes with their size before them', (length) => {
    const bytes = Uint8Array.from({ length }, (_, i) => i)
    const sized = written((writer) =>
      writer
        .u8(7)
        .sized((inner) => inner.raw(bytes))
        .u8(8),
    )
    expect(sized).toEqual(written((writer) => writer.u8(7).bytes(bytes).u8(8)))
  })

  it('grows from nothing', () => {
    const writer = new Writer(0)
    for (let i = 0; i < 1000; i++) writer.u8(i & 0xff)
    writer.raw(new Uint8Array(5000))
    expect(writer.finish().length).toBe(6000)
  })
})
