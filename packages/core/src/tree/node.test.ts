import { compareBytes, type Hash, isCairnError } from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeChild } from './child-ref.ts'
import { encodeNode, type NodeEntry } from './encode.ts'
import { openNode } from './node.ts'

const hash = 'x'.repeat(32) as Hash
const bytes = (...numbers: number[]): Uint8Array => Uint8Array.from(numbers)

const entries: fc.Arbitrary<NodeEntry[]> = fc
  .array(
    fc.record({
      // Few different bytes, so that prefixes are shared, and lengths around one and two length bytes.
      key: fc.oneof(
        fc.uint8Array({ maxLength: 6, max: 3 }),
        fc.uint8Array({ minLength: 120, maxLength: 300, max: 2 }),
      ),
      value: fc.uint8Array({ maxLength: 30 }),
    }),
    { maxLength: 30 },
  )
  .map(ascending)

const children: fc.Arbitrary<NodeEntry[]> = fc
  .array(
    fc.record({
      key: fc.uint8Array({ maxLength: 6, max: 9 }),
      value: fc
        .record({ count: fc.integer({ min: 1 }), weight: fc.nat() })
        .map((sums) => encodeChild({ hash, ...sums })),
    }),
    { minLength: 1, maxLength: 20 },
  )
  .map(ascending)

const nodeBytes = fc.oneof(
  entries.map((list) => encodeNode(0, list)),
  fc
    .tuple(fc.integer({ min: 1, max: 15 }), children)
    .map(([level, list]) => encodeNode(level, list)),
)

function ascending(list: readonly NodeEntry[]): NodeEntry[] {
  return list
    .toSorted((a, b) => compareBytes(a.key, b.key))
    .filter(({ key }, i, all) => i === 0 || compareBytes(all[i - 1]!.key, key) !== 0)
}

function entriesIn(encoded: Uint8Array): NodeEntry[] {
  const node = openNode(encoded, hash)
  return Array.from({ length: node.length }, (_, i) => ({
    key: node.keyAt(i),
    value: node.valueAt(i),
  }))
}

/** A typed refusal, or a node of which these are the only bytes and which answers every question. */
function expectRefusedOrCanonical(encoded: Uint8Array): void {
  try {
    const node = openNode(encoded, hash)
    for (const { key } of entriesIn(encoded)) expect(node.find(key)).toBeGreaterThanOrEqual(0)
    expect(node.lowerBound(bytes(255, 255))).toBeLessThanOrEqual(node.length)
    expect(encodeNode(node.level, entriesIn(encoded))).toEqual(encoded)
  } catch (error) {
    if (!isCairnError(error)) throw error
    expect(['malformed', 'unsupported_version']).toContain(error.code)
    expect(error.subject).toBe('78'.repeat(32))
  }
}

describe('node', () => {
  it('entries come back as they were', () => {
    fc.assert(
      fc.property(entries, (list) => {
        expect(entriesIn(encodeNode(0, list))).toEqual(list)
      }),
    )
  })

  it('finds each key and the place of every other', () => {
    fc.assert(
      fc.property(entries, fc.uint8Array({ maxLength: 6, max: 4 }), (list, key) => {
        const node = openNode(encodeNode(0, list), hash)
        const place = list.filter((entry) => compareBytes(entry.key, key) < 0).length
        const found = list.findIndex((entry) => compareBytes(entry.key, key) === 0)
        expect([node.lowerBound(key), node.find(key)]).toEqual([place, found])
        list.forEach((entry, i) =>
          expect(Math.sign(node.compareKey(i, key))).toBe(Math.sign(compareBytes(entry.key, key))),
        )
      }),
    )
  })

  it('compares keys of two nodes as they are whole', () => {
    fc.assert(
      fc.property(entries, entries, (a, b) => {
        const [left, right] = [openNode(encodeNode(0, a), hash), openNode(encodeNode(0, b), hash)]
        a.forEach(({ key }, i) =>
          b.forEach((other, j) =>
            expect(Math.sign(left.compareKeys(i, right, j))).toBe(
              Math.sign(compareBytes(key, other.key)),
            ),
          ),
        )
      }),
      { numRuns: 30 },
    )
  })

  it('a key above the limit is not written', () => {
    const entry = (length: number): NodeEntry => ({ key: new Uint8Array(length), value: bytes() })
    expect(openNode(encodeNode(0, [entry(511)]), hash).keyAt(0).length).toBe(511)
    expect(() => encodeNode(0, [entry(512)])).toThrow('at most 511 bytes')
  })

  it('above 1 MiB is not written', () => {
    const sized = (length: number): NodeEntry => ({ key: bytes(1), value: new Uint8Array(length) })
    // Header, prefix, one wide end, and the length of nothing.
    const rest = 6 + 1 + 4 + 1
    expect(openNode(encodeNode(0, [sized((1 << 20) - rest)]), hash).length).toBe(1)
    expect(() => encodeNode(0, [sized((1 << 20) - rest + 1)])).toThrow('at most 1048576 bytes')
  })
})

describe('hostile node', () => {
  it('any bytes: refused, or the only spelling', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (any) => {
        expectRefusedOrCanonical(any)
        expectRefusedOrCanonical(bytes(1, 0, ...any))
        expectRefusedOrCanonical(bytes(1, 1, 1, 0, 0, 0, ...any))
      }),
      { numRuns: 300 },
    )
  })

  it('one byte changed: refused, or the only spelling', () => {
    fc.assert(
      fc.property(nodeBytes, fc.nat(), fc.integer({ min: 1, max: 255 }), (encoded, at, change) => {
        const changed = encoded.slice()
        changed[at % encoded.length]! ^= change
        expectRefusedOrCanonical(changed)
      }),
      { numRuns: 2000 },
    )
  })

  it('cut short or with something behind it: refused', () => {
    fc.assert(
      fc.property(nodeBytes, fc.nat(), (encoded, at) => {
        expect(() => openNode(encoded.subarray(0, at % encoded.length), hash)).toThrow(
          'cannot read',
        )
        expect(() => openNode(bytes(...encoded, 0), hash)).toThrow('cannot read')
      }),
    )
  })

  const child = (...sums: number[]): number[] => [...Array<number>(32).fill(7), ...sums]
  const refused: Readonly<Record<string, readonly number[]>> = {
    'no byte at all': [],
    'half a header': [1, 0, 0],
    'version 0': [0, 0, 0, 0, 0, 0],
    'level 16': [1, 16, 1, 0, 0, 0, 35, 0, 0, ...child(1, 0)],
    'an inner node without children': [1, 1, 0, 0, 0, 0],
    'more entries than bytes': [1, 0, 0xff, 0xff, 0, 0],
    'a prefix longer than the node': [1, 0, 1, 0, 0xff, 0xff],
    'a prefix without entries': [1, 0, 0, 0, 1, 0, 9],
    'wide ends without need': [1, 0x80, 0, 0, 0, 0],
    'an end behind the bytes': [1, 0, 1, 0, 0, 0, 9, 0, 0],
    'an end before its start': [1, 0, 2, 0, 0, 0, 2, 0, 1, 0, 1, 5, 1, 6],
    'an entry without a byte': [1, 0, 1, 0, 0, 0, 0, 0],
    'a key longer than its entry': [1, 0, 1, 0, 0, 0, 2, 0, 5, 1],
    'bytes behind the last entry': [1, 0, 1, 0, 0, 0, 1, 0, 0, 0],
    'a prefix that could be longer': [1, 0, 1, 0, 0, 0, 2, 0, 1, 65],
    'the same key twice': [1, 0, 2, 0, 0, 0, 1, 0, 2, 0, 0, 0],
    'keys that descend': [1, 0, 2, 0, 0, 0, 2, 0, 4, 0, 1, 66, 1, 65],
    'a length of two bytes where one does': [1, 0, 2, 0, 0, 0, 3, 0, 5, 0, 0x81, 0, 65, 1, 66],
    'a child without sums': [1, 1, 1, 0, 0, 0, 33, 0, 0, ...child()],
    'a child that counts nothing': [1, 1, 1, 0, 0, 0, 35, 0, 0, ...child(0, 0)],
    'a child with a padded sum': [1, 1, 1, 0, 0, 0, 36, 0, 0, ...child(0x81, 0, 0)],
    'a child with an endless sum': [1, 1, 1, 0, 0, 0, 35, 0, 0, ...child(1, 0x80)],
    'a child that counts 2^53': [1, 1, 1, 0, 0, 0, 42, 0, 0].concat(
      child(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10, 0),
    ),
  }
  it.each(Object.entries(refused))('%s: malformed', (_, encoded) => {
    expect(() => openNode(bytes(...encoded), hash)).toThrow(
      expect.objectContaining({ code: 'malformed', subject: '78'.repeat(32) }),
    )
  })

  it('the near misses above, put right, are read', () => {
    for (const encoded of [
      [1, 0, 0, 0, 0, 0],
      [1, 0, 1, 0, 1, 0, 65, 1, 0, 0],
      [1, 0, 2, 0, 0, 0, 2, 0, 4, 0, 1, 65, 1, 66],
      [1, 1, 1, 0, 0, 0, 35, 0, 0, ...child(1, 0)],
    ])
      openNode(bytes(...encoded), hash)
  })

  it('sums that no number holds: malformed', () => {
    const half = Number.MAX_SAFE_INTEGER
    const list = [1, 2].map((key) => ({
      key: bytes(key),
      value: encodeChild({ hash, count: half, weight: 0 }),
    }))
    expect(() => openNode(encodeNode(1, list), hash)).toThrow('sums above')
    expect(openNode(encodeNode(1, list.slice(1)), hash).childAt(0).count).toBe(half)
  })

  it('a newer version: unsupported, whatever follows', () => {
    expect(() => openNode(bytes(2), hash)).toThrow(
      expect.objectContaining({ code: 'unsupported_version', subject: '78'.repeat(32) }),
    )
  })

  it('above 1 MiB: refused before anything is read', () => {
    expect(() => openNode(new Uint8Array((1 << 20) + 1).fill(1), hash)).toThrow('too long')
  })
})
