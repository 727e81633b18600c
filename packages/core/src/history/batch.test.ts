import { type BranchId, Reader, Writer } from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { batch, ops } from '../../test/arbitraries.ts'
import { type Op } from '../filesystem/op.ts'
import {
  type Batch,
  batchBytesMax,
  decodeBatch,
  decodeOutline,
  decodeSentBatch,
  encodeBatch,
  genesis,
} from './batch.ts'
import { readOp, writeOp } from './op-codec.ts'

const now = { sec: 1_700_000_000, nsec: 0 }

function spell(op: Op): Uint8Array {
  const writer = new Writer()
  writeOp(writer, op, now)
  return writer.finish()
}

function read(bytes: Uint8Array): Op {
  const reader = new Reader(bytes, 'operation')
  const op = readOp(reader, now)
  reader.end()
  return op
}

/** Either a typed refusal, or a value of which these are the only spelling. */
function expectRefusedOr(again: (bytes: Uint8Array) => Uint8Array, bytes: Uint8Array): void {
  let spelled: Uint8Array
  try {
    spelled = again(bytes)
  } catch (error) {
    expect(error).toMatchObject({ name: 'CairnError' })
    expect(['malformed', 'unsupported_version']).toContain((error as { code: string }).code)
    return
  }
  expect(spelled).toEqual(bytes)
}

describe.each(Object.entries(ops))('operation %s', (_, any) => {
  it('comes back as it was', () => {
    fc.assert(
      fc.property(any as fc.Arbitrary<Op>, (op) => {
        expect(read(spell(op))).toEqual(op)
      }),
    )
  })

  it('one byte changed, cut short, or with one more: refused, or spelled as we would', () => {
    fc.assert(
      fc.property(
        any as fc.Arbitrary<Op>,
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (op, at, change) => {
          const again = (bytes: Uint8Array): Uint8Array => spell(read(bytes))
          const bytes = spell(op)
          const changed = bytes.slice()
          changed[at % bytes.length]! ^= change
          expectRefusedOr(again, changed)
          expect(() => read(bytes.subarray(0, at % bytes.length))).toThrow('cannot read')
          expect(() => read(Uint8Array.of(...bytes, change))).toThrow('cannot read')
        },
      ),
      { numRuns: 200 },
    )
  })
})

it('the outline of a batch says all of it but its operations', () => {
  fc.assert(
    fc.property(batch, (whole) => {
      const { body } = whole
      const outline = body.type === 'ops' ? { type: 'ops', count: body.ops.length } : body
      expect(decodeOutline(encodeBatch(whole))).toEqual({ ...whole, body: outline })
    }),
  )
})

/** Both versions are spelled the same, and new ones are of the second. */
function again(bytes: Uint8Array): Uint8Array {
  const spelled = encodeBatch(decodeBatch(bytes))
  spelled[0] = bytes[0]!
  return spelled
}

describe('batch', () => {
  it('comes back as it was', () => {
    fc.assert(
      fc.property(batch, (any) => {
        expect(decodeBatch(encodeBatch(any))).toEqual(any)
      }),
      { numRuns: 200 },
    )
  })

  it('one byte changed: refused, or spelled as we would', () => {
    fc.assert(
      fc.property(batch, fc.nat(), fc.integer({ min: 1, max: 255 }), (any, at, change) => {
        const bytes = encodeBatch(any)
        bytes[at % bytes.length]! ^= change
        expectRefusedOr(again, bytes)
      }),
      { numRuns: 500 },
    )
  })

  it('masked: read by a session, refused in a log', () => {
    const masked = { ...plain, body: { type: 'masked', change: 'writes' } } as const
    const bytes = encodeBatch(masked)
    expect(decodeSentBatch(bytes)).toEqual(masked)
    expect(() => decodeBatch(bytes)).toThrow('a masked batch in a log')
  })

  it('cut short or with something behind it: refused', () => {
    fc.assert(
      fc.property(batch, fc.nat(), (any, at) => {
        const bytes = encodeBatch(any)
        expect(() => decodeBatch(bytes.subarray(0, at % bytes.length))).toThrow('cannot read')
        expect(() => decodeBatch(Uint8Array.of(...bytes, 0))).toThrow('cannot read')
      }),
    )
  })

  it('any bytes: refused with a typed error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (any) => {
        expectRefusedOr(again, any)
        expectRefusedOr(again, Uint8Array.of(1, ...any))
      }),
      { numRuns: 300 },
    )
  })
})

const plain: Batch = {
  branch: 'b' as BranchId,
  seq: 1,
  epoch: 1,
  session: 's' as Batch['session'],
  number: 1,
  actor: 'a' as Batch['actor'],
  time: { sec: 0, nsec: 0 },
  body: { type: 'ops', ops: [] },
  previous: genesis,
}

describe('hostile batch', () => {
  const header = encodeBatch(plain).slice(0, -1)
  const after = (...bytes: number[]): Uint8Array => Uint8Array.of(...header, ...bytes)

  it('ten million operations in ten bytes: refused before any is made', () => {
    const count = [0x80, 0xad, 0xe2, 0x04]
    expect(() => decodeBatch(after(...count, 0, 0, 0, 0, 0, 0))).toThrow('a count of 10000000')
  })

  it('a text, a name, a write longer than the batch: refused before room is made', () => {
    const huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]
    expect(() => decodeBatch(Uint8Array.of(1, ...huge))).toThrow('its end too early')
    const unlink = [1, 2, 0, 0, 0, 0, 0, 1]
    expect(() => decodeBatch(after(...unlink, ...huge))).toThrow('its end too early')
    const write = [1, 6, 0, 0, 0, 0, 0, 1, 0, 0, 0]
    expect(() => decodeBatch(after(...write, ...huge))).toThrow('its end too early')
  })

  it('above 4 MiB: refused at once', () => {
    expect(() => decodeBatch(new Uint8Array(batchBytesMax + 1).fill(1))).toThrow('4194305 bytes')
  })

  it('text that is not UTF-8: refused', () => {
    const bytes = encodeBatch(plain)
    bytes[2] = 0xff
    expect(() => decodeBatch(bytes)).toThrow('not UTF-8')
  })

  it('a byte-order mark belongs to a text: two ids do not become one', () => {
    const marked = { ...plain, branch: '\ufeffb' as BranchId }
    expect(decodeBatch(encodeBatch(marked)).branch).toBe('\ufeffb')
  })

  it.each(['seq', 'epoch', 'number'] as const)('%s 0: neither written nor read', (field) => {
    expect(() => encodeBatch({ ...plain, [field]: 0 })).toThrow('counts from 1')
  })

  it('a time of an operation beyond all times: refused', () => {
    // A second before the earliest: the batch has it, and the operation adds −1.
    const first = encodeBatch({ ...plain, time: { sec: -(2 ** 51), nsec: 0 } }).slice(0, -1)
    expect(() => decodeBatch(Uint8Array.of(...first, 1, 2, 1, 0, 0, 0, 0, 1, 1, 65))).toThrow(
      'a time out of range',
    )
  })

  it('a nanosecond too many: refused', () => {
    const nsec = [0x00, 0xca, 0x9a, 0x3b]
    expect(() => decodeBatch(after(1, 2, 0, ...nsec, 1, 1, 65))).toThrow('a time out of range')
  })

  it.each([
    ['operation', [1, 13, 0]],
    ['attributes', [1, 5, 0, 0, 0, 0, 0, 1, 64]],
  ])('an unknown %s: from a newer version', (what, body) => {
    expect(() => decodeBatch(after(...body, 0, 0, 0, 0))).toThrow(
      expect.objectContaining({
        code: 'unsupported_version',
        message: expect.stringContaining(`${what} ${body.at(what === 'operation' ? 1 : -1)}`),
      }),
    )
  })

  it('an unknown body, cause or state: from a newer version', () => {
    const body = (...bytes: number[]): Uint8Array =>
      Uint8Array.of(...header.slice(0, -1), ...bytes, ...Array<number>(200).fill(0))
    for (const bytes of [[6], [1, 4], [3, 4], [4, 3]])
      expect(() => decodeBatch(body(...bytes))).toThrow(
        expect.objectContaining({ code: 'unsupported_version' }),
      )
  })

  it('a tool call: one, of visible ASCII, before a body that logs have', () => {
    const start = header.slice(0, -1)
    const read = (...bytes: number[]): Batch => decodeBatch(Uint8Array.of(...start, ...bytes))
    expect(read(5, 1, 0x63, 2)).toMatchObject({ toolCall: 'c', body: { type: 'epoch' } })
    for (const bytes of [
      [5, 0, 2],
      [5, 1, 0x20, 2],
      [5, 1, 0x63, 5, 1, 0x63, 2],
      [5, 1, 0x63, 4, 0],
    ])
      expect(() => read(...bytes)).toThrow(expect.objectContaining({ code: 'malformed' }))
  })

  it('version 3: unsupported, whatever follows; version 0 never was', () => {
    expect(() => decodeBatch(Uint8Array.of(3))).toThrow(
      expect.objectContaining({ code: 'unsupported_version' }),
    )
    expect(() => decodeBatch(Uint8Array.of(0))).toThrow(
      expect.objectContaining({ code: 'malformed' }),
    )
  })
})

describe('an operation that could not be read again', () => {
  const unlink = { type: 'unlink', time: now, parent: 1, name: 'a' } as Op
  const write = { type: 'write', time: now, ino: 1, offset: 0, dropPrivileges: false } as const
  const blob = { type: 'blob', id: genesis, blobLength: 10, start: 5 } as const
  const unwritable: Readonly<Record<string, unknown>> = {
    'inode 0': { ...unlink, parent: 0 },
    'a negative inode': { ...unlink, parent: -1 },
    'half an inode': { ...unlink, parent: 1.5 },
    'no number': { ...unlink, parent: NaN },
    'inode 2^53': { ...unlink, parent: 2 ** 53 },
    'a negative offset': { ...write, offset: -1, data: { type: 'bytes', bytes: Uint8Array.of(1) } },
    'a range outside its blob': { ...write, data: { ...blob, length: 6 } },
    'an owner above 32 bits': { type: 'setattr', time: now, ino: 1, uid: 2 ** 32 },
    'an unknown type': { ...unlink, type: 'shred' },
    'an unknown mode': { ...unlink, type: 'rename', newParent: 1, newName: 'b', mode: 'maybe' },
    'a name that is no bytes': { ...unlink, name: 'ā' },
    'a billion nanoseconds': { ...unlink, time: { sec: 0, nsec: 1e9 } },
    'the year 100 million': { ...unlink, time: { sec: 2 ** 51, nsec: 0 } },
    'half a second': { ...unlink, time: { sec: 0.5, nsec: 0 } },
  }
  it.each(Object.entries(unwritable))('%s: not written', (_, op) => {
    expect(() => spell(op as Op)).toThrow(expect.objectContaining({ code: 'malformed' }))
  })

  it('half a surrogate pair in an id: not written', () => {
    expect(() => encodeBatch({ ...plain, branch: '\ud800' as BranchId })).toThrow('surrogate')
  })
})
