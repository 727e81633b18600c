import type { Time } from '@cairn/core'
import type { ByteString } from '@cairn/protocol'

/** Who asks, as the kernel says it. `pid` is 0 when it lives in another pid namespace. */
export interface KernelCaller {
  readonly uid: number
  readonly gid: number
  readonly pid: number
  /** The kernel's number for the request: no other has it as long as the mount lives. */
  readonly request: number
  /** Asked of an earlier daemon before, which may have done it and died before it could say so. */
  readonly resent: boolean
}

export interface Attributes {
  /** What stat shows. The kernel's own key is the nodeid, and one file may change that. */
  readonly ino: number
  /** With the type bits (S_IFREG …). */
  readonly mode: number
  readonly nlink: number
  readonly uid: number
  readonly gid: number
  /** As the kernel's u32. */
  readonly rdev: number
  readonly size: number
  /** In units of 512 bytes. */
  readonly blocks: number
  /** `sec` may be negative. */
  readonly atime: Time
  readonly mtime: Time
  readonly ctime: Time
}

/** A name that is there. Handing one out adds one to what `forget` takes off. */
export interface Entry {
  /** Never reused within a mount. The root's is 1. */
  readonly nodeid: number
  readonly attributes: Attributes
  /** Seconds for which the kernel may answer from its own caches; 0: it asks each time. */
  readonly ttl: number
}

/** Attributes, and for how many seconds they may be believed. */
export interface AttributesAnswer {
  readonly attributes: Attributes
  readonly ttl: number
}

/** A value now, or later: then the request is parked and nothing else waits. Throw (or reject with) FsError for an errno. */
export type Answer<T> = T | Promise<T>

export interface AttributeChange {
  /** Without the type bits. */
  readonly mode: number | undefined
  readonly uid: number | undefined
  readonly gid: number | undefined
  readonly size: number | undefined
  readonly atime: Time | 'now' | undefined
  readonly mtime: Time | 'now' | undefined
  /** Clear set-user-id, and set-group-id of a file its group may execute: the kernel no longer does. */
  readonly killPrivileges: boolean
}

export interface Lock {
  /** The 64-bit lock owner in hex. */
  readonly owner: string
  readonly start: number
  /** The last byte; the end of every file is Number.MAX_SAFE_INTEGER. */
  readonly end: number
  readonly type: 'read' | 'write' | 'none'
  readonly pid: number
}

export interface FileSystemStatistics {
  readonly blocks: number
  readonly free: number
  readonly files: number
  readonly filesFree: number
  readonly blockSize: number
  readonly nameMax: number
}

/** The inode number of a directory whose attributes are not known. */
export type Directory = number

/**
 * Takes one entry of a listing. False: it did not fit, was not taken, and nothing more will be. A directory may come
 * without its attributes: then the kernel looks it up when they are wanted.
 */
export type FillListing = (name: ByteString, position: number, entry: Entry | Directory) => boolean

/**
 * What the kernel asks of a file system, one method for a question.
 *
 * Byte arrays given to a method are views of the request buffer: they are used, or copied, before the method
 * returns. Byte arrays that it answers with are written out before the next request is read.
 */
export interface FuseFileSystem {
  /** Undefined: not there; the kernel is told so for `negativeTtl` seconds. */
  lookup(parent: number, name: ByteString, caller: KernelCaller): Answer<Entry | undefined>
  forget(nodeid: number, count: number): void
  getattr(nodeid: number): Answer<AttributesAnswer>
  setattr(nodeid: number, change: AttributeChange, caller: KernelCaller): Answer<AttributesAnswer>
  readlink(nodeid: number): Answer<Uint8Array>
  /** `mode` with the type bits; the kernel has taken the umask off already, here and below. */
  mknod(
    parent: number,
    name: ByteString,
    mode: number,
    rdev: number,
    caller: KernelCaller,
  ): Answer<Entry>
  mkdir(parent: number, name: ByteString, mode: number, caller: KernelCaller): Answer<Entry>
  symlink(parent: number, name: ByteString, target: Uint8Array, caller: KernelCaller): Answer<Entry>
  link(nodeid: number, parent: number, name: ByteString, caller: KernelCaller): Answer<Entry>
  unlink(parent: number, name: ByteString, caller: KernelCaller): Answer<void>
  rmdir(parent: number, name: ByteString, caller: KernelCaller): Answer<void>
  /** `flags`: RENAME_NOREPLACE 1 or RENAME_EXCHANGE 2; others never arrive here, they are EINVAL. */
  rename(
    parent: number,
    name: ByteString,
    newParent: number,
    newName: ByteString,
    flags: number,
    caller: KernelCaller,
  ): Answer<void>
  create(
    parent: number,
    name: ByteString,
    mode: number,
    openFlags: number,
    caller: KernelCaller,
  ): Answer<Entry>
  /** Absent: the kernel opens by itself and asks no more (NO_OPEN). */
  open?(nodeid: number, openFlags: number, caller: KernelCaller): Answer<void>
  /** Fewer bytes than asked for mean the end of the file. */
  read(nodeid: number, offset: number, size: number): Answer<Uint8Array | readonly Uint8Array[]>
  /** The number of bytes written. With O_APPEND in `openFlags` the offset is where the kernel believes the end to be. */
  write(
    nodeid: number,
    offset: number,
    data: Uint8Array,
    openFlags: number,
    killPrivileges: boolean,
    caller: KernelCaller,
  ): Answer<number>
  /** At each close of each duplicate. Absent: the kernel stops asking. */
  flush?(nodeid: number): Answer<void>
  /** Without `open` only for files created before the kernel learnt that. */
  release?(nodeid: number): void
  fsync(nodeid: number, dataOnly: boolean): Answer<void>
  fsyncdir(nodeid: number): Answer<void>
  fallocate(
    nodeid: number,
    offset: number,
    length: number,
    mode: number,
    caller: KernelCaller,
  ): Answer<void>
  /** The number of bytes copied. */
  copyFileRange(
    from: number,
    fromOffset: number,
    to: number,
    offset: number,
    length: number,
    caller: KernelCaller,
  ): Answer<number>
  /** `whence`: SEEK_DATA 3 or SEEK_HOLE 4; the kernel does the others. */
  lseek(nodeid: number, offset: number, whence: number): Answer<number>
  /**
   * The whole value. Undefined: ENODATA, without the price of an exception, because the kernel asks for
   * `security.capability` at the first write to each file.
   */
  getxattr(nodeid: number, name: ByteString, caller: KernelCaller): Answer<Uint8Array | undefined>
  listxattr(nodeid: number, caller: KernelCaller): Answer<readonly ByteString[]>
  /** `flags`: XATTR_CREATE 1, XATTR_REPLACE 2. */
  setxattr(
    nodeid: number,
    name: ByteString,
    value: Uint8Array,
    flags: number,
    caller: KernelCaller,
  ): Answer<void>
  removexattr(nodeid: number, name: ByteString, caller: KernelCaller): Answer<void>
  /**
   * Entries after position `offset` (0 at the start) until `fill` says false. The position of an entry is what
   * the next call gets to go on after it. `.` and `..` are the dispatcher's (positions 1 and 2): positions of
   * entries are 3 and above, and `offset` may be 0 or 2 at the start. An entry that was taken with its attributes counts as a lookup.
   */
  readdir(nodeid: number, offset: number, fill: FillListing): Answer<void>
  /** The numbers that a listing shows for `.` and `..`. */
  dots(nodeid: number): { readonly self: number; readonly parent: number }
  statfs(nodeid: number): Answer<FileSystemStatistics>
  /** The lock that stands in the way, or one of type `none`. Locks absent: the kernel keeps them itself. */
  getlk?(nodeid: number, lock: Lock, caller: KernelCaller): Answer<Lock>
  /**
   * Type `none` unlocks; every close does so for its owner from 0 to the end, whether it holds locks or not.
   * Taken and not `wait`: EAGAIN. `signal` is aborted when the one who waits was interrupted.
   */
  setlk?(
    nodeid: number,
    lock: Lock,
    wait: boolean,
    flock: boolean,
    signal: AbortSignal,
  ): Answer<void>
  /** The kernel has let go of everything. */
  destroy(): void
}
