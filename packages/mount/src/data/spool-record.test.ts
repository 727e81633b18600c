import type { Op } from '@cairn/core'
import { type Ino, type Name } from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeRecords, deferringClasses, encodeRecord, type SpoolRecord } from './spool-record.ts'

const time = fc.record({ sec: fc.integer({ min: -1000, max: 2 ** 33 }), nsec: fc.nat(999_999_999) })
const ino = fc.integer({ min: 2, max: 2 ** 40 }).map((n) => n as Ino)
const op: fc.Arbitrary<Op> = fc.oneof(
  fc.record({
    type: fc.constant('write' as const),
    time,
    ino,
    offset: fc.nat(1e9),
    data: fc
      .uint8Array({ minLength: 1, maxLength: 200 })
      .map((bytes) => ({ type: 'bytes' as const, bytes })),
    dropPrivileges: fc.constant(false as const),
  }),
  fc.record({
    type: fc.constant('unlink' as const),
    time,
    parent: ino,
    name: fc.constantFrom('a', 'b\xff').map((name) => name as Name),
  }),
  fc.record({ type: fc.constant('reap' as const), ino }),
)
const record: fc.Arbitrary<SpoolRecord> = fc.oneof(
  fc.record({
    type: fc.constant('batch' as const),
    number: fc.integer({ min: 1, max: 2 ** 40 }),
    epoch: fc.integer({ min: 1, max: 1e6 }),
    time,
  }),
  fc.record({ type: fc.constant('op' as const), op, request: fc.nat(2 ** 40) }),
  fc.record({ type: fc.constant('taken' as const), number: fc.integer({ min: 1, max: 2 ** 40 }) }),
  fc.record({
    type: fc.constant('progress' as const),
    settled: fc.nat(1e9),
    lastNumber: fc.nat(1e9),
    seq: fc.nat(1e9),
    hasDeferred: fc.boolean(),
  }),
  fc.record({
    type: fc.constant('deferred' as const),
    op,
    request: fc.nat(2 ** 40),
    class: fc.constantFrom(...deferringClasses),
    id: fc.integer({ min: 1, max: 2 ** 40 }),
    epoch: fc.integer({ min: 1, max: 1e6 }),
  }),
  fc.record({
    type: fc.constant('released' as const),
    number: fc.integer({ min: 1, max: 2 ** 40 }),
    epoch: fc.integer({ min: 1, max: 1e6 }),
    time,
    class: fc.constantFrom(...deferringClasses),
    first: fc.integer({ min: 1, max: 2 ** 40 }),
    count: fc.integer({ min: 1, max: 8000 }),
  }),
)

function encode(one: SpoolRecord): Buffer {
  const bytes =
    'op' in one && one.op.type === 'write' && one.op.data.type === 'bytes'
      ? one.op.data.bytes
      : undefined
  return Buffer.concat(encodeRecord(one, bytes))
}

function plain(records: Iterable<SpoolRecord>): unknown[] {
  return [...records].map((one) => {
    if (!('op' in one) || one.op.type !== 'write' || one.op.data.type !== 'bytes') return one
    return { ...one, op: { ...one.op, data: Buffer.from(one.op.data.bytes).toString('hex') } }
  })
}

describe('records of the spool', () => {
  it('records of the spool are read as they were written', () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 20 }), (records) => {
        const segment = Buffer.concat(records.map(encode))
        expect(plain(decodeRecords(segment))).toEqual(plain(records))
      }),
      { seed: 1 },
    )
  })

  it('a tail that was torn off or spoilt ends the reading, and nothing before it', () => {
    fc.assert(
      fc.property(
        fc.array(record, { minLength: 1, maxLength: 8 }),
        fc.nat(),
        fc.boolean(),
        (records, at, isTorn) => {
          const pieces = records.map(encode)
          const segment = Buffer.concat(pieces)
          const place = at % segment.length
          const damaged = isTorn ? segment.subarray(0, place) : Buffer.from(segment)
          if (!isTorn) damaged[place]! ^= 0x55
          let [whole, end] = [0, 0]
          while (end + pieces[whole]!.length <= place) end += pieces[whole++]!.length
          const expected = plain(records.slice(0, whole))
          expect(plain(decodeRecords(damaged))).toEqual(expected)
        },
      ),
      { seed: 1, numRuns: 300 },
    )
  })
})
