import {
  type AppendOp,
  blockBytes,
  type CreateOp,
  fallocateModes,
  largestFileBytes,
  type Op,
  privilegeDrops,
  renameModes,
  type SetxattrOp,
  type WriteOp,
  xattrModes,
} from '@cairn/core'
import { type ByteString, fileKinds, type Ino, type Name } from '@cairn/protocol'
import fc from 'fast-check'

/**
 * An operation before it meets a tree: its inode numbers are drawn, and the Resolver makes of each one that is
 * there (or was, or never will be). Plain data, so that a failing case can be kept as a file.
 */
export type Step =
  | Exclude<Op, CreateOp | WriteOp | AppendOp | SetxattrOp>
  /** With the next unused number, or with one that is in use: numbers are never reused. */
  | (Omit<CreateOp, 'ino' | 'target'> & {
      readonly ino: 'taken' | null
      readonly targetBytes: number
    })
  | (Omit<WriteOp, 'data'> & { readonly data: StepData })
  | (Omit<AppendOp, 'data'> & { readonly data: StepData })
  | (Omit<SetxattrOp, 'value'> & { readonly valueBytes: number })

export interface StepData {
  readonly salt: number
  readonly length: number
  /** So many of the bytes, at the start and at the end, are zeros. */
  readonly head: number
  readonly tail: number
  /** As part of a blob, with so many bytes around it. */
  readonly stored: { readonly before: number; readonly after: number } | null
}

const longName = 'n'.repeat(254)
const ino = fc.nat({ max: 511 }).map((drawn) => drawn as Ino)
const name = fc
  .oneof(
    { weight: 20, arbitrary: fc.constantFrom('a', 'b', 'c', 'd') },
    { weight: 3, arbitrary: fc.constantFrom('\xff', `${longName}n`, ' ', 'A') },
    { weight: 1, arbitrary: fc.constantFrom('.', '..', '', 'a/b', 'a\0', `${longName}nn`) },
  )
  .map((drawn) => drawn as Name)
const time = fc.record({
  sec: fc.integer({ min: -5, max: 50 }),
  nsec: fc.constantFrom(0, 1, 999_999_999),
})
const owner = fc.constantFrom(0, 1, 1000, 2 ** 32 - 2)
const mode = fc.constantFrom(0o644, 0o755, 0o7777, 0o2644, 0, 0o100_644)

const edge = fc.constantFrom(blockBytes - 1, blockBytes, blockBytes + 1, 2 * blockBytes - 5)
/** Wide apart, so that most of a file is hole: neither a read nor a fold may walk it. */
const far = fc.constantFrom(5 * blockBytes + 7, 2 ** 33 + 11, 2 ** 43)
const offset = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(0, 0, 1, 2, 100, 129) },
  { weight: 2, arbitrary: fc.nat({ max: 300 }) },
  { weight: 4, arbitrary: edge },
  { weight: 2, arbitrary: far },
  { weight: 1, arbitrary: fc.constantFrom(largestFileBytes - 3, largestFileBytes) },
)
const length = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(1, 2, 5, 127, 128, 129) },
  { weight: 3, arbitrary: fc.nat({ max: 4100 }) },
  { weight: 1, arbitrary: edge },
)
const rangeLength = fc.oneof(
  { weight: 4, arbitrary: length },
  { weight: 1, arbitrary: far },
  { weight: 1, arbitrary: fc.constantFrom(0, largestFileBytes) },
)
const zeros = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat({ max: 200 }))
const data: fc.Arbitrary<StepData> = fc.record({
  salt: fc.nat({ max: 7 }),
  length,
  head: zeros,
  tail: zeros,
  stored: fc.option(fc.record({ before: fc.nat({ max: 2 }), after: fc.nat({ max: 2 }) })),
})
const dropPrivileges = fc.constantFrom(...privilegeDrops)

const create = fc.record({
  type: fc.constant('create'),
  parent: ino,
  name,
  ino: fc.oneof({ weight: 20, arbitrary: fc.constant(null) }, fc.constant<'taken'>('taken')),
  kind: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('file', 'directory') },
    { weight: 1, arbitrary: fc.constantFrom(...fileKinds) },
  ),
  mode,
  uid: owner,
  gid: owner,
  rdev: fc.constantFrom(0, 259),
  targetBytes: fc.constantFrom(1, 5, 300, 4095, 0, 4096),
  time,
})
const link = fc.record({ type: fc.constant('link'), ino, parent: ino, name, time })
const unlink = fc.record({ type: fc.constantFrom('unlink', 'rmdir'), parent: ino, name, time })
const rename = fc.record({
  type: fc.constant('rename'),
  parent: ino,
  name,
  newParent: ino,
  newName: name,
  mode: fc.constantFrom(...renameModes, 'replace'),
  time,
})
const setattr = fc.record(
  {
    type: fc.constant('setattr'),
    ino,
    mode,
    uid: owner,
    gid: owner,
    size: fc.oneof(offset, length),
    atime: time,
    mtime: time,
    time,
  },
  { requiredKeys: ['type', 'ino', 'time'] },
)
const write = fc.record({ type: fc.constant('write'), ino, offset, data, dropPrivileges, time })
const append = fc.record({ type: fc.constant('append'), ino, data, dropPrivileges, time })
const fallocate = fc.record({
  type: fc.constant('fallocate'),
  ino,
  offset,
  length: rangeLength,
  mode: fc.constantFrom(...fallocateModes),
  dropPrivileges,
  time,
})
const copy = fc.record({
  type: fc.constant('copy'),
  from: ino,
  fromOffset: offset,
  ino,
  offset,
  length: rangeLength,
  dropPrivileges,
  time,
})
const xattrName = fc.constantFrom<ByteString[]>('user.a', 'user.b')
const setxattr = fc.record({
  type: fc.constant('setxattr'),
  ino,
  name: fc.oneof(
    { weight: 5, arbitrary: xattrName },
    fc.constantFrom<ByteString[]>('', 'x'.repeat(255), 'x'.repeat(256)),
  ),
  valueBytes: fc.constantFrom(0, 1, 200, 40_000, 65_530, 65_536, 65_537),
  mode: fc.constantFrom(...xattrModes),
  time,
})
const removexattr = fc.record({
  type: fc.constant('removexattr'),
  ino,
  name: xattrName,
  time,
})
const reap = fc.record({ type: fc.constant('reap'), ino })

export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 14, arbitrary: create },
  { weight: 3, arbitrary: link },
  { weight: 4, arbitrary: unlink },
  { weight: 5, arbitrary: rename },
  { weight: 5, arbitrary: setattr },
  { weight: 8, arbitrary: write },
  { weight: 2, arbitrary: append },
  { weight: 3, arbitrary: fallocate },
  { weight: 3, arbitrary: copy },
  { weight: 2, arbitrary: setxattr },
  { weight: 1, arbitrary: removexattr },
  { weight: 1, arbitrary: reap },
)
