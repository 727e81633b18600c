/** UTF-8 when a string. Bytes otherwise, because a name need not be text. */
export type Path = string | Uint8Array

export type FileKind =
  | 'file'
  | 'directory'
  | 'symlink'
  | 'fifo'
  | 'socket'
  | 'character device'
  | 'block device'

export interface Credentials {
  readonly uid: number
  readonly gid: number
  /** Supplementary groups; `gid` counts as a member whether it is listed or not. */
  readonly groups: readonly number[]
}

export interface Device {
  readonly major: number
  readonly minor: number
}

export interface Stat {
  readonly kind: FileKind
  /**
   * The twelve permission bits, without the file type: set-user-id, set-group-id and sticky
   * included.
   */
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly size: number
  readonly nlink: number
  readonly ino: bigint
  /** Zero and zero for everything but a device. */
  readonly rdev: Device
  /** In units of 512 bytes. */
  readonly blocks: number
  readonly atimeNs: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

export interface DirectoryEntry {
  readonly name: Uint8Array
  readonly kind: FileKind
  readonly ino: bigint
}

/** Nanoseconds since 1970, negative before it; or the subject's own clock; or leave as it is. */
export type TimeChange = bigint | 'now' | 'omit'

export interface FileSystemStat {
  readonly blockBytes: number
  readonly blocks: number
  readonly blocksFree: number
  readonly blocksAvailable: number
  readonly nameBytesMax: number
}

/**
 * A file system that can be asked questions: system calls on paths and descriptors, and nothing
 * else. The host's is asked first and decides what is right; the core and a mount answer the same
 * questions.
 *
 * A method named after a system call does what Linux does, errno precedence and trailing slashes
 * included. It fails by rejecting with an error whose `code` is the errno's name: `'ENOENT'`.
 * `EOPNOTSUPP` is spelled so, never `ENOTSUP`.
 *
 * Each question gets a fresh subject: one empty directory, mode 0755, owned by `credentials`, which
 * is both the root and the working directory. Paths resolve from it as relative paths do; none
 * begins with a slash and no symlink that is followed has an absolute target, because on the host
 * these would leave the directory. `..` never climbs above it either. The umask starts as 022.
 *
 * Calls are made one at a time: a question awaits each before the next. Descriptors that a question
 * leaves open are closed when the subject is disposed of. FIFOs are opened with O_RDWR only, which
 * needs no partner, and then asked for `lseek` and `fallocate`; devices and sockets are never
 * opened.
 */
export interface Subject {
  /** Who makes the calls: uid 0 in a run as root, otherwise the user who runs the tests. */
  readonly credentials: Credentials

  /**
   * The same file system, called by another user. Both share descriptors and umask, as two threads
   * of one process would. uid 0 has every privilege over files, any other uid none. Only in a run
   * as root.
   */
  as(credentials: Credentials): Subject

  /**
   * Resolves when the clock has moved on: a time stamped by any later call is greater than every
   * time stamped before. A subject with a clock of its own advances it; the host waits for the
   * kernel's.
   */
  nextInstant(): Promise<void>

  /** Sets the mask that `open`, `mkdir` and `mknod` take out of modes; resolves to the old one. */
  umask(mask: number): Promise<number>

  /**
   * `flags` as in `constants.ts`; `mode`, 0666 unless given, counts only when the call creates the
   * file. A descriptor keeps what it was opened for, whatever becomes of mode, owner and name.
   */
  open(path: Path, flags: number, mode?: number): Promise<number>
  close(fd: number): Promise<void>
  /** From the descriptor's offset, which moves. Fewer bytes only where the file ends. */
  read(fd: number, length: number): Promise<Uint8Array>
  /** Leaves the descriptor's offset alone. */
  pread(fd: number, length: number, offset: number): Promise<Uint8Array>
  /** Resolves to the number of bytes written: always all of them. */
  write(fd: number, bytes: Uint8Array): Promise<number>
  /** Leaves the descriptor's offset alone. With O_APPEND, Linux appends and ignores `offset`. */
  pwrite(fd: number, bytes: Uint8Array, offset: number): Promise<number>
  /** Resolves to the new offset. SEEK_DATA and SEEK_HOLE move the offset too. */
  lseek(fd: number, offset: number, whence: number): Promise<number>
  ftruncate(fd: number, length: number): Promise<void>
  truncate(path: Path, length: number): Promise<void>
  /** `mode`: bits of FALLOC_FL_*, 0 to reserve space and grow the file. */
  fallocate(fd: number, mode: number, offset: number, length: number): Promise<void>
  /**
   * Resolves to the number of bytes copied, fewer than asked only where the source ends. An offset
   * of `null` means the descriptor's own, which then moves.
   */
  copyFileRange(
    fdIn: number,
    offsetIn: number | null,
    fdOut: number,
    offsetOut: number | null,
    length: number,
  ): Promise<number>

  fstat(fd: number): Promise<Stat>
  stat(path: Path): Promise<Stat>
  lstat(path: Path): Promise<Stat>
  statfs(path: Path): Promise<FileSystemStat>

  /** `mode`: 0777 unless given. */
  mkdir(path: Path, mode?: number): Promise<void>
  rmdir(path: Path): Promise<void>
  unlink(path: Path): Promise<void>
  /** A symlink at `existing` is linked itself, not followed. */
  link(existing: Path, path: Path): Promise<void>
  symlink(target: Path, path: Path): Promise<void>
  readlink(path: Path): Promise<Uint8Array>
  /** renameat2(2). `flags`: 0, RENAME_NOREPLACE or RENAME_EXCHANGE. */
  rename(from: Path, to: Path, flags?: number): Promise<void>
  /** `mode` with the type bits: S_IFIFO | 0o644. */
  mknod(path: Path, mode: number, device?: Device): Promise<void>

  chmod(path: Path, mode: number): Promise<void>
  fchmod(fd: number, mode: number): Promise<void>
  /** -1 leaves the user or the group as it is. */
  chown(path: Path, uid: number, gid: number): Promise<void>
  lchown(path: Path, uid: number, gid: number): Promise<void>
  fchown(fd: number, uid: number, gid: number): Promise<void>
  /** Follows a symlink unless told otherwise. Both omitted: succeeds without looking at the path. */
  utimens(
    path: Path,
    atime: TimeChange,
    mtime: TimeChange,
    options?: { readonly followSymlinks?: boolean },
  ): Promise<void>
  futimens(fd: number, atime: TimeChange, mtime: TimeChange): Promise<void>

  /** The whole directory, `.` and `..` included, in any order: open, getdents to the end, close. */
  readdir(path: Path): Promise<readonly DirectoryEntry[]>
  /**
   * The next entries of an open directory, `.` and `..` included: as many as the subject likes,
   * though no more than fit into `bufferBytes` as `linux_dirent64` records (19 bytes, the name, a
   * zero, rounded up to 8). None at the end. `lseek(fd, 0, SEEK_SET)` starts again.
   */
  getdents(fd: number, bufferBytes: number): Promise<readonly DirectoryEntry[]>

  /** ERANGE when the value is longer than `bufferBytes` (65536 unless given). */
  getxattr(path: Path, name: string, bufferBytes?: number): Promise<Uint8Array>
  /** `flags`: 0, XATTR_CREATE or XATTR_REPLACE. */
  setxattr(path: Path, name: string, value: Uint8Array, flags?: number): Promise<void>
  listxattr(path: Path): Promise<readonly string[]>
  removexattr(path: Path, name: string): Promise<void>
  /** The l-variants act on a symlink itself. */
  lgetxattr(path: Path, name: string): Promise<Uint8Array>
  lsetxattr(path: Path, name: string, value: Uint8Array, flags?: number): Promise<void>
  llistxattr(path: Path): Promise<readonly string[]>
  fgetxattr(fd: number, name: string): Promise<Uint8Array>
  fsetxattr(fd: number, name: string, value: Uint8Array, flags?: number): Promise<void>
}
