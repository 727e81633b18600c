import { chmod, chown, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { Caller } from './caller.ts'
import { O_DIRECTORY, O_RDONLY } from './constants.ts'
import { AT_EMPTY_PATH, AT_FDCWD, AT_SYMLINK_NOFOLLOW, libc } from './libc.ts'
import {
  decodeDirents,
  decodeStatvfs,
  decodeStatx,
  encodeDevice,
  encodeTimes,
  STATVFS_BYTES,
  STATX_BASIC_STATS,
  STATX_BYTES,
} from './records.ts'
import type {
  Credentials,
  Device,
  DirectoryEntry,
  FileSystemStat,
  Path,
  Stat,
  Subject,
  TimeChange,
} from './subject.ts'
import type { SubjectSetup } from './suite.ts'

const CLOCK_REALTIME = 0
const CLOCK_REALTIME_COARSE = 5
const PATH_BYTES_MAX = 4096
const XATTR_BYTES_MAX = 65536

/**
 * Subjects in new directories under `parent`, which may lie in any mounted file system and which
 * every user must be able to search. A file system served by this very process cannot be asked: the
 * calls block the thread that would have to answer. Asked as `who`, or as the current user.
 */
export function hostSubjects(parent: string, who?: Credentials): SubjectSetup {
  return async () => {
    const directory = await mkdtemp(join(parent, 'question-'))
    await chmod(directory, 0o755)
    if (who) await chown(directory, who.uid, who.gid)
    const caller = new Caller(directory)
    const descriptors = new Set<number>()
    const dispose = async (): Promise<void> => {
      for (const fd of descriptors) libc.close(fd)
      caller.dispose()
      await rm(directory, { recursive: true })
    }
    return { subject: new HostSubject(caller, descriptors, who ?? caller.home), dispose }
  }
}

/** Methods are async throughout, so that every failure is a rejection. */
class HostSubject implements Subject {
  readonly credentials: Credentials
  readonly #caller: Caller
  readonly #descriptors: Set<number>

  constructor(caller: Caller, descriptors: Set<number>, credentials: Credentials) {
    this.#caller = caller
    this.#descriptors = descriptors
    this.credentials = credentials
  }

  #call(name: keyof typeof libc, invoke: () => number): number {
    return this.#caller.call(this.credentials, name, invoke)
  }

  /** For calls that write into a buffer and return how far they filled it. */
  #fill(name: keyof typeof libc, bytes: number, invoke: (buffer: Buffer) => number): Buffer {
    const buffer = Buffer.alloc(bytes)
    const length = this.#call(name, () => invoke(buffer))
    return buffer.subarray(0, length)
  }

  as(credentials: Credentials): Subject {
    if (this.#caller.home.uid !== 0) throw new Error('cannot act as another user: only root can')
    return new HostSubject(this.#caller, this.#descriptors, credentials)
  }

  async nextInstant(): Promise<void> {
    // Files are stamped by the coarse clock, or by one between it and the fine clock. Two
    // milliseconds more serve file systems in user space that stamp whole milliseconds.
    const past = readClock(CLOCK_REALTIME) + 2_000_000n
    while (readClock(CLOCK_REALTIME_COARSE) <= past) await setImmediate()
  }

  async umask(mask: number): Promise<number> {
    const before = this.#caller.umask
    this.#caller.umask = mask
    return before
  }

  async open(path: Path, flags: number, mode = 0o666): Promise<number> {
    const fd = this.#call('open', () => libc.open(zeroEnded(path), flags, mode))
    this.#descriptors.add(fd)
    return fd
  }

  async close(fd: number): Promise<void> {
    this.#descriptors.delete(fd)
    this.#call('close', () => libc.close(fd))
  }

  async read(fd: number, length: number): Promise<Uint8Array> {
    return this.#fill('read', length, (buffer) => libc.read(fd, buffer, length))
  }

  async pread(fd: number, length: number, offset: number): Promise<Uint8Array> {
    return this.#fill('pread', length, (buffer) => libc.pread(fd, buffer, length, offset))
  }

  async write(fd: number, bytes: Uint8Array): Promise<number> {
    return this.#call('write', () => libc.write(fd, bytes, bytes.length))
  }

  async pwrite(fd: number, bytes: Uint8Array, offset: number): Promise<number> {
    return this.#call('pwrite', () => libc.pwrite(fd, bytes, bytes.length, offset))
  }

  async lseek(fd: number, offset: number, whence: number): Promise<number> {
    return this.#call('lseek', () => libc.lseek(fd, offset, whence))
  }

  async ftruncate(fd: number, length: number): Promise<void> {
    this.#call('ftruncate', () => libc.ftruncate(fd, length))
  }

  async truncate(path: Path, length: number): Promise<void> {
    this.#call('truncate', () => libc.truncate(zeroEnded(path), length))
  }

  async fallocate(fd: number, mode: number, offset: number, length: number): Promise<void> {
    this.#call('fallocate', () => libc.fallocate(fd, mode, offset, length))
  }

  async copyFileRange(
    fdIn: number,
    offsetIn: number | null,
    fdOut: number,
    offsetOut: number | null,
    length: number,
  ): Promise<number> {
    const from = offsetIn === null ? null : BigInt64Array.of(BigInt(offsetIn))
    const to = offsetOut === null ? null : BigInt64Array.of(BigInt(offsetOut))
    return this.#call('copyFileRange', () => libc.copyFileRange(fdIn, from, fdOut, to, length, 0))
  }

  fstat(fd: number): Promise<Stat> {
    return this.#statx(fd, '', AT_EMPTY_PATH)
  }

  stat(path: Path): Promise<Stat> {
    return this.#statx(AT_FDCWD, path, 0)
  }

  lstat(path: Path): Promise<Stat> {
    return this.#statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW)
  }

  async #statx(fd: number, path: Path, flags: number): Promise<Stat> {
    const buffer = Buffer.alloc(STATX_BYTES)
    this.#call('statx', () => libc.statx(fd, zeroEnded(path), flags, STATX_BASIC_STATS, buffer))
    return decodeStatx(buffer)
  }

  async statfs(path: Path): Promise<FileSystemStat> {
    const buffer = Buffer.alloc(STATVFS_BYTES)
    this.#call('statvfs', () => libc.statvfs(zeroEnded(path), buffer))
    return decodeStatvfs(buffer)
  }

  async mkdir(path: Path, mode = 0o777): Promise<void> {
    this.#call('mkdir', () => libc.mkdir(zeroEnded(path), mode))
  }

  async rmdir(path: Path): Promise<void> {
    this.#call('rmdir', () => libc.rmdir(zeroEnded(path)))
  }

  async unlink(path: Path): Promise<void> {
    this.#call('unlink', () => libc.unlink(zeroEnded(path)))
  }

  async link(existing: Path, path: Path): Promise<void> {
    this.#call('link', () => libc.link(zeroEnded(existing), zeroEnded(path)))
  }

  async symlink(target: Path, path: Path): Promise<void> {
    this.#call('symlink', () => libc.symlink(zeroEndedBytes(target), zeroEnded(path)))
  }

  async readlink(path: Path): Promise<Uint8Array> {
    return this.#fill('readlink', PATH_BYTES_MAX, (buffer) =>
      libc.readlink(zeroEnded(path), buffer, PATH_BYTES_MAX),
    )
  }

  async rename(from: Path, to: Path, flags = 0): Promise<void> {
    this.#call('renameat2', () =>
      libc.renameat2(AT_FDCWD, zeroEnded(from), AT_FDCWD, zeroEnded(to), flags),
    )
  }

  async mknod(path: Path, mode: number, device: Device = { major: 0, minor: 0 }): Promise<void> {
    this.#call('mknod', () => libc.mknod(zeroEnded(path), mode, encodeDevice(device)))
  }

  async chmod(path: Path, mode: number): Promise<void> {
    this.#call('chmod', () => libc.chmod(zeroEnded(path), mode))
  }

  async fchmod(fd: number, mode: number): Promise<void> {
    this.#call('fchmod', () => libc.fchmod(fd, mode))
  }

  async chown(path: Path, uid: number, gid: number): Promise<void> {
    this.#call('chown', () => libc.chown(zeroEnded(path), uid, gid))
  }

  async lchown(path: Path, uid: number, gid: number): Promise<void> {
    this.#call('lchown', () => libc.lchown(zeroEnded(path), uid, gid))
  }

  async fchown(fd: number, uid: number, gid: number): Promise<void> {
    this.#call('fchown', () => libc.fchown(fd, uid, gid))
  }

  async utimens(
    path: Path,
    atime: TimeChange,
    mtime: TimeChange,
    { followSymlinks = true }: { readonly followSymlinks?: boolean } = {},
  ): Promise<void> {
    const times = encodeTimes(atime, mtime)
    const flags = followSymlinks ? 0 : AT_SYMLINK_NOFOLLOW
    this.#call('utimensat', () => libc.utimensat(AT_FDCWD, zeroEnded(path), times, flags))
  }

  async futimens(fd: number, atime: TimeChange, mtime: TimeChange): Promise<void> {
    const times = encodeTimes(atime, mtime)
    this.#call('futimens', () => libc.futimens(fd, times))
  }

  async readdir(path: Path): Promise<readonly DirectoryEntry[]> {
    const fd = await this.open(path, O_RDONLY | O_DIRECTORY)
    const entries: DirectoryEntry[] = []
    for (;;) {
      const next = await this.getdents(fd, 65536)
      if (next.length === 0) break
      entries.push(...next)
    }
    await this.close(fd)
    return entries
  }

  async getdents(fd: number, bufferBytes: number): Promise<readonly DirectoryEntry[]> {
    return decodeDirents(
      this.#fill('getdents', bufferBytes, (buffer) => libc.getdents(fd, buffer, bufferBytes)),
    )
  }

  async getxattr(path: Path, name: string, bufferBytes = XATTR_BYTES_MAX): Promise<Uint8Array> {
    return this.#fill('getxattr', bufferBytes, (buffer) =>
      libc.getxattr(zeroEnded(path), zeroEnded(name), buffer, bufferBytes),
    )
  }

  async setxattr(path: Path, name: string, value: Uint8Array, flags = 0): Promise<void> {
    this.#call('setxattr', () =>
      libc.setxattr(zeroEnded(path), zeroEnded(name), value, value.length, flags),
    )
  }

  listxattr(path: Path): Promise<readonly string[]> {
    return this.#list('listxattr', path)
  }

  llistxattr(path: Path): Promise<readonly string[]> {
    return this.#list('llistxattr', path)
  }

  async #list(name: 'listxattr' | 'llistxattr', path: Path): Promise<readonly string[]> {
    const list = this.#fill(name, XATTR_BYTES_MAX, (buffer) =>
      libc[name](zeroEnded(path), buffer, XATTR_BYTES_MAX),
    )
    return list.toString().split('\0').slice(0, -1)
  }

  async removexattr(path: Path, name: string): Promise<void> {
    this.#call('removexattr', () => libc.removexattr(zeroEnded(path), zeroEnded(name)))
  }

  async lgetxattr(path: Path, name: string): Promise<Uint8Array> {
    return this.#fill('lgetxattr', XATTR_BYTES_MAX, (buffer) =>
      libc.lgetxattr(zeroEnded(path), zeroEnded(name), buffer, XATTR_BYTES_MAX),
    )
  }

  async lsetxattr(path: Path, name: string, value: Uint8Array, flags = 0): Promise<void> {
    this.#call('lsetxattr', () =>
      libc.lsetxattr(zeroEnded(path), zeroEnded(name), value, value.length, flags),
    )
  }

  async fgetxattr(fd: number, name: string): Promise<Uint8Array> {
    return this.#fill('fgetxattr', XATTR_BYTES_MAX, (buffer) =>
      libc.fgetxattr(fd, zeroEnded(name), buffer, XATTR_BYTES_MAX),
    )
  }

  async fsetxattr(fd: number, name: string, value: Uint8Array, flags = 0): Promise<void> {
    this.#call('fsetxattr', () => libc.fsetxattr(fd, zeroEnded(name), value, value.length, flags))
  }
}

function readClock(clock: number): bigint {
  const time = new BigInt64Array(2)
  libc.clockGettime(clock, time)
  const [seconds = 0n, nanoseconds = 0n] = time
  return seconds * 1_000_000_000n + nanoseconds
}

function zeroEnded(path: Path): Buffer {
  const bytes = zeroEndedBytes(path)
  if (bytes[0] === 0x2f) throw new Error('cannot resolve a path with a leading slash: see Subject')
  return bytes
}

function zeroEndedBytes(text: string | Uint8Array): Buffer {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  return Buffer.concat([bytes, Uint8Array.of(0)])
}
