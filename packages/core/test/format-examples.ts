import {
  type ActorId,
  type BranchId,
  fromByteString,
  type Hash,
  type Ino,
  type Name,
  rootIno,
  type SessionId,
  Writer,
} from '@cairn/protocol'
import { Blobs } from '../src/content/blobs.ts'
import { Extents } from '../src/content/extents.ts'
import type { Inode } from '../src/filesystem/inode.ts'
import type { Time } from '../src/ports/records.ts'
import { blockKey, dentryKey, inodeKey, linkKey } from '../src/filesystem/keys.ts'
import type { Op } from '../src/filesystem/op.ts'
import { encodeBlock, encodeDentry, encodeInode } from '../src/filesystem/values.ts'
import {
  type Batch,
  type BatchBody,
  encodeBatch,
  encodeBody,
  genesis,
} from '../src/history/batch.ts'
import { hashOfRow } from '../src/history/reference.ts'
import { storeNewTree } from '../src/history/new-tree.ts'
import { writeOp } from '../src/history/op-codec.ts'
import { MemoryBlobStore } from '../src/testing/memory-blob-store.ts'
import { encodeChild } from '../src/tree/child-ref.ts'
import { encodeNode } from '../src/tree/encode.ts'
import { contentWorker, MemoryStores, sha256 } from './ports.ts'

/** What docs/internals/format.md shows, as the code makes it. */

const at = (sec: number, nsec = 0): Time => ({ sec, nsec })
const now = at(1_700_000_000, 500_000_000)
const ino = (number: number): Ino => number as Ino
const name = (text: string): Name => text as Name
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
/** A hash that shows where it begins and ends. */
const hash = ('\xaa' + '\0'.repeat(30) + '\xbb') as Hash

const plain: Inode = {
  kind: 'file',
  mode: 0o644,
  uid: 1000,
  gid: 1000,
  size: 0,
  nlink: 1,
  rdev: 0,
  atime: now,
  mtime: now,
  ctime: now,
  home: { parent: rootIno, name: name('a.txt') },
  target: undefined,
  xattrs: undefined,
  content: { first: undefined, allocated: 0, foldedEnd: 0, extents: Extents.none },
}

const greeting = { type: 'inline', bytes: utf8('hello\n') } as const

export const inodes = {
  directory: {
    ...plain,
    kind: 'directory',
    mode: 0o755,
    uid: 0,
    gid: 0,
    nlink: 2,
    atime: at(0),
    mtime: at(0),
    ctime: at(0),
    home: undefined,
    content: undefined,
  },
  file: {
    ...plain,
    size: 6,
    ctime: at(1_700_000_001),
    xattrs: new Map([['user.a', utf8('1')]]),
    content: { first: greeting, allocated: 6, foldedEnd: 6, extents: Extents.none },
  },
  symlink: {
    ...plain,
    kind: 'symlink',
    mode: 0o777,
    size: 2,
    target: utf8('..'),
    content: undefined,
  },
} as const satisfies Record<string, Inode>

const timed = { time: now }

export const ops: { readonly [Type in Op['type']]: Extract<Op, { readonly type: Type }> } = {
  create: {
    ...timed,
    type: 'create',
    parent: rootIno,
    name: name('a.txt'),
    ino: ino(2),
    kind: 'file',
    mode: 0o644,
    uid: 1000,
    gid: 1000,
    rdev: 0,
    target: undefined,
  },
  link: { ...timed, type: 'link', ino: ino(2), parent: rootIno, name: name('b') },
  unlink: { ...timed, type: 'unlink', parent: rootIno, name: name('b') },
  rmdir: { ...timed, type: 'rmdir', parent: rootIno, name: name('d') },
  rename: {
    ...timed,
    type: 'rename',
    parent: rootIno,
    name: name('a'),
    newParent: ino(3),
    newName: name('b'),
    mode: 'noreplace',
  },
  setattr: {
    ...timed,
    type: 'setattr',
    ino: ino(2),
    mode: 0o600,
    size: 4,
    mtime: at(1_700_000_001),
  },
  write: {
    ...timed,
    type: 'write',
    ino: ino(2),
    offset: 300,
    dropPrivileges: false,
    data: { type: 'bytes', bytes: utf8('hi') },
  },
  fallocate: {
    ...timed,
    type: 'fallocate',
    ino: ino(2),
    offset: 0,
    length: 4096,
    mode: 'punch',
    dropPrivileges: 'stranger',
  },
  copy: {
    ...timed,
    type: 'copy',
    from: ino(2),
    fromOffset: 0,
    ino: ino(3),
    offset: 10,
    length: 5,
    dropPrivileges: 'member',
  },
  setxattr: {
    ...timed,
    type: 'setxattr',
    ino: ino(2),
    name: 'user.a',
    value: utf8('1'),
    mode: 'create',
  },
  removexattr: { ...timed, type: 'removexattr', ino: ino(2), name: 'user.a' },
  reap: { type: 'reap', ino: ino(2) },
  append: {
    ...timed,
    type: 'append',
    ino: ino(2),
    dropPrivileges: 'stranger',
    data: { type: 'bytes', bytes: utf8('hi') },
  },
}

export const blobWrite: Op = {
  ...ops.write,
  data: { type: 'blob', id: hash, blobLength: 200_000, start: 100, length: 1000 },
}

function batch(body: BatchBody): Batch {
  return {
    branch: 'main' as BranchId,
    seq: 1,
    epoch: 1,
    session: 's1' as SessionId,
    number: 1,
    actor: 'k1' as ActorId,
    time: now,
    body,
    previous: genesis,
  }
}

export const batches = {
  ops: batch({ type: 'ops', ops: [ops.unlink, ops.reap] }),
  root: batch({
    type: 'root',
    change: {
      cause: 'rollback',
      before: { root: hash, orphans: hash },
      after: { root: hash, orphans: hash },
      subject: 'c1',
      message: '',
    },
  }),
  epoch: batch({ type: 'epoch' }),
  state: batch({ type: 'state', state: 'committed' }),
  call: { ...batch({ type: 'epoch' }), toolCall: 'call-7' },
} as const

const leafEntries = [
  { key: utf8('key-1'), value: utf8('one') },
  { key: utf8('key-20'), value: utf8('') },
]

async function newRoot(): Promise<Uint8Array> {
  const { nodes } = new MemoryStores()
  return fromByteString((await storeNewTree(nodes)).root)
}

export const examples: Readonly<Record<string, () => Uint8Array | Promise<Uint8Array>>> = {
  numbers: () =>
    new Writer()
      .varint(0)
      .varint(300)
      .varint(Number.MAX_SAFE_INTEGER)
      .signed(-1)
      .signed(64)
      .u16(258)
      .u32(999_999_999)
      .bytes(Uint8Array.of(7, 8))
      .text('\u00e9')
      .finish(),
  'key-inode': () => inodeKey(rootIno),
  'key-dentry': () => dentryKey(rootIno, 'a.txt'),
  'key-link': () => linkKey(ino(300), { parent: ino(2), name: name('b') }),
  'key-block': () => blockKey(ino(300), 7),
  'inode-directory': () => encodeInode(inodes.directory),
  'inode-file': () => encodeInode(inodes.file),
  'inode-symlink': () => encodeInode(inodes.symlink),
  dentry: () => encodeDentry({ ino: ino(300), kind: 'directory' }),
  'block-inline': () => encodeBlock(greeting),
  'block-blob': () => encodeBlock({ type: 'blob', id: hash, length: 200_000 }),
  'node-empty': () => encodeNode(0, []),
  'node-leaf': () => encodeNode(0, leafEntries),
  'node-inner': () =>
    encodeNode(1, [{ key: utf8('key-20'), value: encodeChild({ hash, count: 2, weight: 300 }) }]),
  'root-empty': () => fromByteString(sha256(encodeNode(0, []))),
  'root-new': newRoot,
  'blob-raw': async () =>
    (await new Blobs(new MemoryBlobStore(), contentWorker).seal(utf8('hello\n'))).stored,
  'batch-ops': () => encodeBatch(batches.ops),
  'batch-ops-hash': () => fromByteString(hashOfRow(encodeBatch(batches.ops), sha256)),
  'batch-root': () => encodeBatch(batches.root),
  'batch-epoch': () => encodeBatch(batches.epoch),
  'batch-state': () => encodeBatch(batches.state),
  'batch-call': () => encodeBatch(batches.call),
  submission: () => encodeBody(batches.ops.body, now),
  'op-write-blob': () => spell(blobWrite),
  ...Object.fromEntries(Object.entries(ops).map(([type, op]) => [`op-${type}`, () => spell(op)])),
}

function spell(op: Op): Uint8Array {
  const writer = new Writer()
  writeOp(writer, op, now)
  return writer.finish()
}
