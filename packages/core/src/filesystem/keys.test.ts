import { compareBytes, type Ino, isCairnError, type Name, toByteString } from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { blockKey, dentryKey, inodeKey, type Key, linkKey, parseKey, rangeStart } from './keys.ts'

const ino = fc
  .oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }))
  .map((number) => number as Ino)
const name = fc
  .uint8Array({ minLength: 1, maxLength: 255 })
  .map(
    (bytes) =>
      toByteString(bytes.map((byte) => ([0, 0x2e, 0x2f].includes(byte) ? 1 : byte))) as Name,
  )
const key: fc.Arbitrary<Key> = fc.oneof(
  ino.map((ino): Key => ({ type: 'inode', ino })),
  fc.record({ type: fc.constant('dentry' as const), parent: ino, name }),
  fc.record({ type: fc.constant('link' as const), ino, link: fc.record({ parent: ino, name }) }),
  fc.record({
    type: fc.constant('block' as const),
    ino,
    index: fc.integer({ min: 1, max: 0xffff_ffff }),
  }),
)

function encode(key: Key): Uint8Array {
  switch (key.type) {
    case 'inode':
      return inodeKey(key.ino)
    case 'dentry':
      return dentryKey(key.parent, key.name)
    case 'link':
      return linkKey(key.ino, key.link)
    case 'block':
      return blockKey(key.ino, key.index)
  }
}

/** Either a typed refusal, or a key of which these are the only bytes. */
function expectRefusedOrSpelledSo(bytes: Uint8Array): void {
  let spelled: Uint8Array
  try {
    spelled = encode(parseKey(bytes))
  } catch (error) {
    expect(isCairnError(error, 'malformed') || isCairnError(error, 'unsupported_version')).toBe(
      true,
    )
    return
  }
  expect(spelled).toEqual(bytes)
}

describe('tree key', () => {
  it('comes back as it was', () => {
    fc.assert(
      fc.property(key, (any) => {
        expect(parseKey(encode(any))).toEqual(any)
      }),
    )
  })

  it('a part of a larger buffer is read as that part', () => {
    const buffer = Uint8Array.of(9, 9, ...blockKey(7 as Ino, 5), 9)
    expect(parseKey(buffer.subarray(2, 15))).toEqual({ type: 'block', ino: 7, index: 5 })
  })

  it('orders by kind, then number, then name or index', () => {
    const order = (a: Key): (string | number)[] => {
      if (a.type === 'inode') return [1, a.ino, '']
      if (a.type === 'dentry') return [2, a.parent, a.name]
      if (a.type === 'link') return [3, a.ino, a.link.parent, a.link.name]
      return [4, a.ino, a.index]
    }
    fc.assert(
      fc.property(key, key, (a, b) => {
        const [x, y] = [order(a), order(b)]
        const at = x.findIndex((part, i) => part !== y[i])
        const wanted = at < 0 ? 0 : x[at]! < y[at]! ? -1 : 1
        expect(Math.sign(compareBytes(encode(a), encode(b)))).toBe(wanted)
      }),
      { numRuns: 500 },
    )
  })

  it('a range holds the keys of its number and no others', () => {
    fc.assert(
      fc.property(key, ino, (any, number) => {
        const own = any.type === 'dentry' ? any.parent : any.ino
        const from = rangeStart(any.type, number)
        const to = rangeStart(any.type, number + 1)
        const bytes = encode(any)
        const inside = compareBytes(from, bytes) <= 0 && compareBytes(bytes, to) < 0
        expect(inside).toBe(own === number)
      }),
    )
  })
})

describe('hostile tree key', () => {
  it('any bytes: refused, or spelled as we would', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(5), (any, kind) => {
        expectRefusedOrSpelledSo(any)
        expectRefusedOrSpelledSo(Uint8Array.of(kind, 0, 0, ...any))
      }),
      { numRuns: 500 },
    )
  })

  it('one byte changed, cut short, or with one more: refused, or spelled as we would', () => {
    fc.assert(
      fc.property(key, fc.nat(), fc.integer({ min: 1, max: 255 }), (any, at, change) => {
        const bytes = encode(any)
        const changed = bytes.slice()
        changed[at % bytes.length]! ^= change
        expectRefusedOrSpelledSo(changed)
        expectRefusedOrSpelledSo(bytes.subarray(0, at % bytes.length))
        expectRefusedOrSpelledSo(Uint8Array.of(...bytes, change))
      }),
      { numRuns: 500 },
    )
  })

  const eight = [0, 0, 0, 0, 0, 0, 0, 1]
  const malformed: Readonly<Record<string, readonly number[]>> = {
    'no byte': [],
    'kind 0': [0, ...eight],
    'an inode key cut short': [1, 0, 0, 0],
    'an inode key with a byte too many': [1, ...eight, 0],
    'inode 0': [1, 0, 0, 0, 0, 0, 0, 0, 0],
    'inode 2^53': [1, 0, 0x20, 0, 0, 0, 0, 0, 0],
    'inode 2^64 − 1': [1, ...Array<number>(8).fill(255)],
    'a name in directory 0': [2, 0, 0, 0, 0, 0, 0, 0, 0, 65],
    'an empty name': [2, ...eight],
    'the name .': [2, ...eight, 0x2e],
    'the name ..': [2, ...eight, 0x2e, 0x2e],
    'a name with a slash': [2, ...eight, 65, 0x2f, 65],
    'a name with a zero byte': [2, ...eight, 65, 0],
    'a name of 256 bytes': [2, ...eight, ...Array<number>(256).fill(65)],
    'a link without a parent': [3, ...eight],
    'a link without a name': [3, ...eight, ...eight],
    'a link in directory 2^53': [3, ...eight, 0, 0x20, 0, 0, 0, 0, 0, 0, 65],
    'block 0, which is in the inode': [4, ...eight, 0, 0, 0, 0],
    'a block key cut short': [4, ...eight, 0, 0, 1],
    'a block key with a byte too many': [4, ...eight, 0, 0, 0, 1, 0],
  }
  it.each(Object.entries(malformed))('%s: malformed', (_, bytes) => {
    expect(() => parseKey(Uint8Array.from(bytes))).toThrow(
      expect.objectContaining({ code: 'malformed' }),
    )
  })

  it.each([5, 255])('kind %i: from a newer version, whatever follows', (kind) => {
    expect(() => parseKey(Uint8Array.of(kind))).toThrow(
      expect.objectContaining({ code: 'unsupported_version' }),
    )
  })
})
