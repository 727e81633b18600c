import {
  allocatedBytes,
  type attributeCalls,
  type FallocateMode,
  type Inode,
  type Kind,
  may,
  type pathCalls,
  type RenameMode,
  type Time,
  type XattrMode,
} from '@cairn/core'
import { type ByteString, FsError, type Ino, toByteString } from '@cairn/protocol'
import {
  FALLOC_FL_KEEP_SIZE,
  FALLOC_FL_PUNCH_HOLE,
  FALLOC_FL_ZERO_RANGE,
  O_CREAT,
  O_DIRECTORY,
  O_EXCL,
  O_NOFOLLOW,
  O_PATH,
  O_RDWR,
  O_TRUNC,
  O_WRONLY,
  RENAME_EXCHANGE,
  RENAME_NOREPLACE,
  S_IFBLK,
  S_IFCHR,
  S_IFDIR,
  S_IFIFO,
  S_IFREG,
  S_IFSOCK,
  XATTR_CREATE,
  XATTR_REPLACE,
} from '../constants.ts'
import type { Device, FileKind, Path, Stat, TimeChange } from '../subject.ts'

/** Between the numbers of system calls and the words of the core, as a mount would do it. */

const SECOND = 1_000_000_000n
const S_IFMT = 0o170000

export function pathBytes(path: Path): ByteString {
  return toByteString(typeof path === 'string' ? new TextEncoder().encode(path) : path)
}

export function fileKind(kind: Kind): FileKind {
  return kind === 'character' || kind === 'block' ? `${kind} device` : kind
}

export function statOf(ino: Ino, inode: Inode): Stat {
  const { mode, uid, gid, size, nlink, content } = inode
  return {
    kind: fileKind(inode.kind),
    mode,
    uid,
    gid,
    size,
    nlink,
    ino: BigInt(ino),
    rdev: deviceOf(inode.rdev),
    blocks: content ? Math.ceil(allocatedBytes(content) / 512) : 0,
    atimeNs: nanoseconds(inode.atime),
    mtimeNs: nanoseconds(inode.mtime),
    ctimeNs: nanoseconds(inode.ctime),
  }
}

function nanoseconds({ sec, nsec }: Time): bigint {
  return BigInt(sec) * SECOND + BigInt(nsec)
}

export function timeChange(time: TimeChange): attributeCalls.TimeChange {
  if (time === 'now') return 'now'
  if (time === 'omit') return 'keep'
  const nsec = ((time % SECOND) + SECOND) % SECOND
  return { sec: Number((time - nsec) / SECOND), nsec: Number(nsec) }
}

/** -1 leaves an owner as it is. */
export function ownerChange(id: number): number | undefined {
  return id === -1 ? undefined : id
}

/** The 32 bits in which the kernel tells device numbers to file systems. */
export function deviceNumber({ major, minor }: Device): number {
  return ((minor & 0xff) | (major << 8) | ((minor & ~0xff) << 12)) >>> 0
}

function deviceOf(rdev: number): Device {
  return { major: (rdev >>> 8) & 0xfff, minor: (rdev & 0xff) | ((rdev >>> 12) & 0xfff00) }
}

export function openOptions(flags: number, mode: number): pathCalls.OpenOptions {
  const makes = (flags & O_CREAT) !== 0 && (flags & O_PATH) === 0
  if (makes && (flags & O_DIRECTORY) !== 0) throw new FsError('EINVAL')
  return {
    wanted: wantedOf(flags),
    ...(makes ? { create: { mode, exclusive: (flags & O_EXCL) !== 0 } } : {}),
    truncate: (flags & O_TRUNC) !== 0,
    directory: (flags & O_DIRECTORY) !== 0,
    follow: (flags & O_NOFOLLOW) === 0,
  }
}

function wantedOf(flags: number): number {
  if ((flags & O_PATH) !== 0) return 0
  if ((flags & O_RDWR) !== 0) return may.read | may.write
  return (flags & O_WRONLY) !== 0 ? may.write : may.read
}

export function kindToMake(mode: number): Kind {
  switch (mode & S_IFMT) {
    case 0:
    case S_IFREG:
      return 'file'
    case S_IFIFO:
      return 'fifo'
    case S_IFSOCK:
      return 'socket'
    case S_IFCHR:
      return 'character'
    case S_IFBLK:
      return 'block'
    case S_IFDIR:
      throw new FsError('EPERM')
    default:
      throw new FsError('EINVAL')
  }
}

export function renameMode(flags: number): RenameMode {
  if (flags === 0) return 'replace'
  if (flags === RENAME_NOREPLACE) return 'noreplace'
  if (flags === RENAME_EXCHANGE) return 'exchange'
  throw new FsError('EINVAL')
}

const fallocateModes: ReadonlyMap<number, FallocateMode> = new Map([
  [0, 'allocate'],
  [FALLOC_FL_KEEP_SIZE, 'allocate-keep-size'],
  [FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 'punch'],
  [FALLOC_FL_ZERO_RANGE, 'zero'],
  [FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, 'zero-keep-size'],
])

export function fallocateMode(bits: number): FallocateMode {
  const mode = fallocateModes.get(bits)
  if (mode === undefined) throw new FsError('EOPNOTSUPP')
  return mode
}

export function xattrMode(flags: number): XattrMode {
  if (flags === 0) return 'set'
  if (flags === XATTR_CREATE) return 'create'
  if (flags === XATTR_REPLACE) return 'replace'
  throw new FsError('EINVAL')
}
