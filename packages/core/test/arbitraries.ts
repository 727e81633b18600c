import {
  type ActorId,
  type BranchId,
  type Hash,
  hashBytes,
  type Ino,
  type Name,
  type SessionId,
  toByteString,
  fileKinds,
} from '@cairn/protocol'
import fc from 'fast-check'
import { branchStates, type Snapshot, type Time } from '../src/ports/records.ts'
import {
  type Data,
  fallocateModes,
  type Op,
  privilegeDrops,
  renameModes,
  type SetattrOp,
  xattrModes,
} from '../src/filesystem/op.ts'
import { type Batch, type BatchBody, rootCauses } from '../src/history/batch.ts'

/** Anything the formats can say, for tests that write and read it. */

const safe = fc.oneof(fc.nat(300), fc.maxSafeNat())
const positive = fc.oneof(
  fc.integer({ min: 1, max: 300 }),
  fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
)
const u32 = fc.oneof(fc.nat(300), fc.nat(0xffff_ffff))
const ino = positive.map((number) => number as Ino)
const byteString = fc.uint8Array({ maxLength: 300 }).map(toByteString)
const name = fc.uint8Array({ maxLength: 255 }).map((bytes) => toByteString(bytes) as Name)
const bytes = fc.uint8Array({ maxLength: 300 })
const hash = fc
  .uint8Array({ minLength: hashBytes, maxLength: hashBytes })
  .map((each) => toByteString(each) as Hash)
/** Any Unicode, a byte-order mark in front too. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '\ufeff', '\ufeffa', 'a\0b'),
)

const time: fc.Arbitrary<Time> = fc.record({
  sec: fc.oneof(
    fc.integer(),
    fc.integer({ min: -(2 ** 51), max: 2 ** 51 - 1 }),
    fc.constantFrom(-(2 ** 51), 2 ** 51 - 1, 0),
  ),
  nsec: fc.nat(999_999_999),
})

const data: fc.Arbitrary<Data> = fc.oneof(
  fc.record({ type: fc.constant('bytes' as const), bytes }),
  fc
    .record({ id: hash, parts: fc.tuple(fc.nat(2 ** 50), fc.nat(2 ** 50), fc.nat(2 ** 50)) })
    .map(({ id, parts: [start, length, rest] }) => ({
      type: 'blob' as const,
      id,
      blobLength: start + length + rest,
      start,
      length,
    })),
)

const timed = { time }
const drop = { dropPrivileges: fc.constantFrom(...privilegeDrops) }

const create = fc.constantFrom(...fileKinds).chain((kind) =>
  fc.record({
    ...timed,
    type: fc.constant('create' as const),
    kind: fc.constant(kind),
    parent: ino,
    name,
    ino,
    mode: safe,
    uid: u32,
    gid: u32,
    rdev: kind === 'character' || kind === 'block' ? u32 : fc.constant(0),
    target: kind === 'symlink' ? bytes : fc.constant(undefined),
  }),
)

const setattr: fc.Arbitrary<SetattrOp> = fc.record(
  {
    ...timed,
    type: fc.constant('setattr' as const),
    ino,
    mode: u32,
    uid: u32,
    gid: u32,
    size: safe,
    atime: time,
    mtime: time,
  },
  { requiredKeys: ['type', 'time', 'ino'] },
)

const type = <T extends Op['type']>(value: T): { type: fc.Arbitrary<T> } => ({
  type: fc.constant(value),
})

/** Each kind of operation, by its type. */
export const ops = {
  create,
  link: fc.record({ ...type('link'), ...timed, ino, parent: ino, name }),
  unlink: fc.record({ ...type('unlink'), ...timed, parent: ino, name }),
  rmdir: fc.record({ ...type('rmdir'), ...timed, parent: ino, name }),
  rename: fc.record({
    ...type('rename'),
    ...timed,
    parent: ino,
    name,
    newParent: ino,
    newName: name,
    mode: fc.constantFrom(...renameModes),
  }),
  setattr,
  write: fc.record({ ...type('write'), ...timed, ino, offset: safe, data, ...drop }),
  append: fc.record({ ...type('append'), ...timed, ino, data, ...drop }),
  fallocate: fc.record({
    ...type('fallocate'),
    ...timed,
    ino,
    offset: safe,
    length: safe,
    mode: fc.constantFrom(...fallocateModes),
    ...drop,
  }),
  copy: fc.record({
    ...type('copy'),
    ...timed,
    from: ino,
    fromOffset: safe,
    ino,
    offset: safe,
    length: safe,
    ...drop,
  }),
  setxattr: fc.record({
    ...type('setxattr'),
    ...timed,
    ino,
    name: byteString,
    value: bytes,
    mode: fc.constantFrom(...xattrModes),
  }),
  removexattr: fc.record({ ...type('removexattr'), ...timed, ino, name: byteString }),
  reap: fc.record({ ...type('reap'), ino }),
} satisfies { [Type in Op['type']]: fc.Arbitrary<Extract<Op, { readonly type: Type }>> }

const op: fc.Arbitrary<Op> = fc.oneof(...Object.values(ops))

const snapshot: fc.Arbitrary<Snapshot> = fc.record({ root: hash, orphans: hash })

const body: fc.Arbitrary<BatchBody> = fc.oneof(
  fc.record({ type: fc.constant('ops' as const), ops: fc.array(op, { maxLength: 8 }) }),
  fc.record({
    type: fc.constant('root' as const),
    change: fc.record({
      cause: fc.constantFrom(...rootCauses),
      before: snapshot,
      after: snapshot,
      subject: text,
      message: text,
    }),
  }),
  fc.record({ type: fc.constant('epoch' as const) }),
  fc.record({ type: fc.constant('state' as const), state: fc.constantFrom(...branchStates) }),
)

const toolCall = fc.stringMatching(/^[\x21-\x7e]{1,256}$/)

const uncalled: fc.Arbitrary<Batch> = fc.record({
  branch: text.map((id) => id as BranchId),
  seq: positive,
  epoch: positive,
  session: text.map((id) => id as SessionId),
  number: positive,
  actor: text.map((id) => id as ActorId),
  time,
  body,
  previous: hash,
})

/** Every other one is of a tool call. */
export const batch: fc.Arbitrary<Batch> = fc.oneof(
  uncalled,
  fc.tuple(uncalled, toolCall).map(([plain, toolCall]) => ({ ...plain, toolCall })),
)
