import type {
  Device,
  DirectoryEntry,
  FileKind,
  FileSystemStat,
  Stat,
  TimeChange,
} from './subject.ts'

const NANOSECONDS = 1_000_000_000n
const UTIME_NOW = (1n << 30n) - 1n
const UTIME_OMIT = (1n << 30n) - 2n

const kindsByType: ReadonlyMap<number, FileKind> = new Map([
  [0o01, 'fifo'],
  [0o02, 'character device'],
  [0o04, 'directory'],
  [0o06, 'block device'],
  [0o10, 'file'],
  [0o12, 'symlink'],
  [0o14, 'socket'],
])

/** `type` as in a directory record; it is also the upper four bits of a mode. */
function kindOf(type: number): FileKind {
  const kind = kindsByType.get(type)
  if (kind === undefined) throw new Error(`unknown file type ${type}`)
  return kind
}

export const STATX_BYTES = 256
export const STATX_BASIC_STATS = 0x7ff

/** `struct statx`: unlike `struct stat`, laid out the same on every architecture. */
export function decodeStatx(buffer: Buffer): Stat {
  const timeAt = (offset: number): bigint =>
    buffer.readBigInt64LE(offset) * NANOSECONDS + BigInt(buffer.readUInt32LE(offset + 8))
  const mode = buffer.readUInt16LE(28)
  return {
    kind: kindOf(mode >> 12),
    mode: mode & 0o7777,
    uid: buffer.readUInt32LE(20),
    gid: buffer.readUInt32LE(24),
    size: Number(buffer.readBigUInt64LE(40)),
    nlink: buffer.readUInt32LE(16),
    ino: buffer.readBigUInt64LE(32),
    rdev: { major: buffer.readUInt32LE(128), minor: buffer.readUInt32LE(132) },
    blocks: Number(buffer.readBigUInt64LE(48)),
    atimeNs: timeAt(64),
    mtimeNs: timeAt(112),
    ctimeNs: timeAt(96),
  }
}

export const STATVFS_BYTES = 112

export function decodeStatvfs(buffer: Buffer): FileSystemStat {
  const field = (index: number): number => Number(buffer.readBigUInt64LE(index * 8))
  return {
    blockBytes: field(1),
    blocks: field(2),
    blocksFree: field(3),
    blocksAvailable: field(4),
    nameBytesMax: field(10),
  }
}

/** `struct linux_dirent64`, one after the other. */
export function decodeDirents(buffer: Buffer): readonly DirectoryEntry[] {
  const entries: DirectoryEntry[] = []
  for (let at = 0; at < buffer.length; at += buffer.readUInt16LE(at + 16)) {
    const name = buffer.subarray(at + 19, buffer.indexOf(0, at + 19))
    const kind = kindOf(buffer.readUInt8(at + 18))
    entries.push({ name: Uint8Array.from(name), kind, ino: buffer.readBigUInt64LE(at) })
  }
  return entries
}

export function encodeTimes(atime: TimeChange, mtime: TimeChange): BigInt64Array {
  return BigInt64Array.from([...encodeTime(atime), ...encodeTime(mtime)])
}

function encodeTime(time: TimeChange): readonly [seconds: bigint, nanoseconds: bigint] {
  if (time === 'now') return [0n, UTIME_NOW]
  if (time === 'omit') return [0n, UTIME_OMIT]
  const nanoseconds = ((time % NANOSECONDS) + NANOSECONDS) % NANOSECONDS
  return [(time - nanoseconds) / NANOSECONDS, nanoseconds]
}

export function encodeDevice({ major, minor }: Device): bigint {
  const high = (BigInt(major >>> 12) << 44n) | (BigInt(minor >>> 8) << 20n)
  return high | BigInt((major & 0xfff) << 8) | BigInt(minor & 0xff)
}
