import {
  type Hash,
  hashBytes,
  type Ino,
  isCairnError,
  type Name,
  toByteString,
  fileKinds,
} from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type BlockRef,
  blockBytes,
  blockLength,
  fileBytesMax,
  inlineBytesMax,
} from '../content/block.ts'
import type { Content } from '../content/content.ts'
import { Extents } from '../content/extents.ts'
import type { Inode } from './inode.ts'
import type { Time } from '../ports/records.ts'
import {
  decodeBlock,
  decodeDentry,
  decodeInode,
  encodeBlock,
  encodeDentry,
  encodeInode,
  weighEntry,
} from './values.ts'
import { inodeKey } from './keys.ts'

const u32 = fc.nat(0xffff_ffff)
const ino = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }).map((number) => number as Ino)

/** Any bytes but these. */
function bytesWithout(without: readonly number[], lengths: fc.IntArrayConstraints) {
  return fc
    .uint8Array(lengths)
    .map((bytes) => bytes.map((byte) => (without.includes(byte) ? 1 : byte)))
}

const name = bytesWithout([0, 0x2e, 0x2f], { minLength: 1, maxLength: 255 }).map(
  (bytes) => toByteString(bytes) as Name,
)
const link = fc.record({ parent: ino, name })

const time: fc.Arbitrary<Time> = fc.record({
  sec: fc.oneof(fc.integer(), fc.integer({ min: -(2 ** 51), max: 2 ** 51 - 1 })),
  nsec: fc.nat(999_999_999),
})

const block: fc.Arbitrary<BlockRef> = fc.oneof(
  bytesWithout([0], { minLength: 1, maxLength: inlineBytesMax }).map((bytes) => ({
    type: 'inline' as const,
    bytes,
  })),
  fc.record({
    type: fc.constant('blob' as const),
    id: fc
      .uint8Array({ minLength: hashBytes, maxLength: hashBytes })
      .map((bytes) => toByteString(bytes) as Hash),
    length: fc.integer({ min: inlineBytesMax + 1, max: blockBytes }),
  }),
)

/** Content of a file of several blocks, so that the first one need not be all of it. */
const file = fc
  .record({
    first: fc.option(block, { nil: undefined }),
    more: fc.nat(2 ** 40),
    hole: fc.nat(fileBytesMax),
  })
  .map(({ first, more, hole }) => {
    const allocated = blockLength(first) + more
    const size = Math.min(fileBytesMax, blockBytes + allocated + hole)
    const content: Content = { first, allocated, foldedEnd: size, extents: Extents.none }
    return { size, content, target: undefined }
  })
const symlink = fc
  .uint8Array({ minLength: 1, maxLength: 4095 })
  .map((target) => ({ size: target.length, target, content: undefined }))
const directory = fc.record({
  size: u32,
  target: fc.constant(undefined),
  content: fc.constant(undefined),
})
const other = fc.constant({ size: 0, target: undefined, content: undefined })
const bodies = {
  file,
  symlink,
  directory,
  fifo: other,
  socket: other,
  character: other,
  block: other,
}

const xattrs = fc
  .array(fc.tuple(name, fc.uint8Array({ maxLength: 50 })), { minLength: 1, maxLength: 5 })
  .map((list) => new Map(list.toSorted(([a], [b]) => (a < b ? -1 : 1))))

const inode: fc.Arbitrary<Inode> = fc.constantFrom(...fileKinds).chain((kind) => {
  const device = kind === 'character' || kind === 'block'
  return fc
    .record({
      attributes: fc.record({ mode: fc.nat(0o7777), uid: u32, gid: u32 }),
      rdev: device ? u32 : fc.constant(0),
      times: fc.record({ atime: time, mtime: time, ctime: time }),
      home: fc.option(link, { nil: undefined }),
      homeless: fc.oneof(fc.constant(0), fc.integer({ min: 2, max: 65_000 })),
      xattrs: fc.option(xattrs, { nil: undefined }),
      body: bodies[kind],
    })
    .map(({ attributes, times, body, homeless, ...rest }) => {
      const withHome = kind === 'directory' ? 2 : 1
      return {
        kind,
        ...attributes,
        ...times,
        ...body,
        ...rest,
        nlink: rest.home ? withHome : homeless,
      }
    })
})

const values = [
  {
    what: 'inode',
    any: inode.map(encodeInode),
    again: (bytes: Uint8Array) => encodeInode(decodeInode(bytes)),
  },
  {
    what: 'block',
    any: block.map(encodeBlock),
    again: (bytes: Uint8Array) => encodeBlock(decodeBlock(bytes)),
  },
  {
    what: 'directory entry',
    any: fc.record({ ino, kind: fc.constantFrom(...fileKinds) }).map(encodeDentry),
    again: (bytes: Uint8Array) => encodeDentry(decodeDentry(bytes)),
  },
]

describe('inode', () => {
  it('any: comes back as it was', () => {
    fc.assert(
      fc.property(inode, (any) => {
        expect(decodeInode(encodeInode(any))).toEqual(any)
      }),
    )
  })

  it('an inode of a file: its bytes are what inner nodes sum up', () => {
    fc.assert(
      fc.property(inode, ino, (any, number) => {
        expect(weighEntry(inodeKey(number), encodeInode(any))).toBe(any.content?.allocated ?? 0)
      }),
    )
  })

  it.each([
    ['content that was written since the fold', { foldedEnd: 4 }],
    ['more bytes in blocks than it is long', { allocated: 6 }],
  ])('an inode with %s: not written', (_, change) => {
    const at = { sec: 0, nsec: 0 }
    const first = { type: 'inline', bytes: Uint8Array.of(1, 2, 3) } as const
    const broken: Inode = {
      kind: 'file',
      mode: 0o644,
      uid: 0,
      gid: 0,
      size: 5,
      nlink: 1,
      rdev: 0,
      atime: at,
      mtime: at,
      ctime: at,
      home: { parent: 1 as Ino, name: 'f' as Name },
      target: undefined,
      xattrs: undefined,
      content: { first, allocated: 3, foldedEnd: 5, extents: Extents.none, ...change },
    }
    expect(() => encodeInode(broken)).toThrow('must not be written')
  })
})

describe.each(values)('hostile $what', ({ any, again }) => {
  /** Either a typed refusal, or a value of which these are the only spelling. */
  function expectRefusedOrSpelledSo(bytes: Uint8Array): void {
    let spelled: Uint8Array
    try {
      spelled = again(bytes)
    } catch (error) {
      expect(isCairnError(error, 'malformed') || isCairnError(error, 'unsupported_version')).toBe(
        true,
      )
      return
    }
    expect(spelled).toEqual(bytes)
  }

  it('any bytes: refused, or spelled as we would', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), expectRefusedOrSpelledSo))
  })

  it('one byte changed: refused, or spelled as we would', () => {
    fc.assert(
      fc.property(any, fc.nat(), fc.integer({ min: 1, max: 255 }), (bytes, at, change) => {
        const changed = bytes.slice()
        changed[at % bytes.length]! ^= change
        expectRefusedOrSpelledSo(changed)
      }),
      { numRuns: 1000 },
    )
  })

  it('cut short or with something behind it: refused', () => {
    fc.assert(
      fc.property(
        any,
        fc.nat(),
        fc.uint8Array({ minLength: 1, maxLength: 4 }),
        (bytes, at, more) => {
          expect(() => again(bytes.subarray(0, at % bytes.length))).toThrow('cannot read')
          expect(() => again(Uint8Array.of(...bytes, ...more))).toThrow('cannot read')
        },
      ),
    )
  })
})
