import { constants } from 'node:os'
import koffi from 'koffi'

type Argument = number | bigint | NodeJS.ArrayBufferView | null
type Call = (...args: readonly Argument[]) => number

const library = koffi.load('libc.so.6')

function bind(definition: string): Call {
  const call = library.func(definition) as (...args: readonly Argument[]) => number | bigint
  return (...args) => Number(call(...args))
}

// The C library's setgroups changes every thread of the process; the bare system call only this
// one.
const setgroupsNumbers: Readonly<Record<string, number>> = { x64: 116, arm64: 159 }

const syscallSetgroups = library.func('syscall', 'long', ['long', 'size_t', 'void *']) as (
  ...args: readonly Argument[]
) => number | bigint

function setgroups(groups: readonly number[]): number {
  const number = setgroupsNumbers[process.arch]
  if (number === undefined) {
    throw new Error(`cannot change groups on ${process.arch}: add the number of setgroups(2) here`)
  }
  return Number(syscallSetgroups(number, groups.length, Uint32Array.from(groups)))
}

/** Bare calls: -1 means failure, and `lastErrno()` says which until the next call. */
export const libc = {
  chmod: bind('int chmod(const void *, unsigned int)'),
  chown: bind('int chown(const void *, unsigned int, unsigned int)'),
  clockGettime: bind('int clock_gettime(int, void *)'),
  close: bind('int close(int)'),
  copyFileRange: bind('int64_t copy_file_range(int, void *, int, void *, size_t, unsigned int)'),
  fallocate: bind('int fallocate(int, int, int64_t, int64_t)'),
  fchdir: bind('int fchdir(int)'),
  fchmod: bind('int fchmod(int, unsigned int)'),
  fchown: bind('int fchown(int, unsigned int, unsigned int)'),
  fgetxattr: bind('int64_t fgetxattr(int, const void *, void *, size_t)'),
  fsetxattr: bind('int fsetxattr(int, const void *, const void *, size_t, int)'),
  ftruncate: bind('int ftruncate(int, int64_t)'),
  futimens: bind('int futimens(int, const void *)'),
  getdents: bind('int64_t getdents64(int, void *, size_t)'),
  getxattr: bind('int64_t getxattr(const void *, const void *, void *, size_t)'),
  lchown: bind('int lchown(const void *, unsigned int, unsigned int)'),
  lgetxattr: bind('int64_t lgetxattr(const void *, const void *, void *, size_t)'),
  link: bind('int link(const void *, const void *)'),
  listxattr: bind('int64_t listxattr(const void *, void *, size_t)'),
  llistxattr: bind('int64_t llistxattr(const void *, void *, size_t)'),
  lseek: bind('int64_t lseek(int, int64_t, int)'),
  lsetxattr: bind('int lsetxattr(const void *, const void *, const void *, size_t, int)'),
  mkdir: bind('int mkdir(const void *, unsigned int)'),
  mknod: bind('int mknod(const void *, unsigned int, uint64_t)'),
  open: bind('int open(const void *, int, unsigned int)'),
  pread: bind('int64_t pread(int, void *, size_t, int64_t)'),
  pwrite: bind('int64_t pwrite(int, const void *, size_t, int64_t)'),
  read: bind('int64_t read(int, void *, size_t)'),
  readlink: bind('int64_t readlink(const void *, void *, size_t)'),
  removexattr: bind('int removexattr(const void *, const void *)'),
  renameat2: bind('int renameat2(int, const void *, int, const void *, unsigned int)'),
  rmdir: bind('int rmdir(const void *)'),
  setfsgid: bind('int setfsgid(unsigned int)'),
  setfsuid: bind('int setfsuid(unsigned int)'),
  setgroups,
  setxattr: bind('int setxattr(const void *, const void *, const void *, size_t, int)'),
  statvfs: bind('int statvfs(const void *, void *)'),
  statx: bind('int statx(int, const void *, int, unsigned int, void *)'),
  symlink: bind('int symlink(const void *, const void *)'),
  truncate: bind('int truncate(const void *, int64_t)'),
  umask: bind('unsigned int umask(unsigned int)'),
  unlink: bind('int unlink(const void *)'),
  utimensat: bind('int utimensat(int, const void *, const void *, int)'),
  write: bind('int64_t write(int, const void *, size_t)'),
}

export const AT_FDCWD = -100
export const AT_SYMLINK_NOFOLLOW = 0x100
export const AT_EMPTY_PATH = 0x1000

const errnoNames = new Map(
  Object.entries(constants.errno).map(([name, number]) => [number, name] as const),
)
// Linux gives these two names each; the file system calls use the ones below.
errnoNames.set(constants.errno.EOPNOTSUPP, 'EOPNOTSUPP')
errnoNames.set(constants.errno.EAGAIN, 'EAGAIN')

export function lastErrno(): string {
  const number = koffi.errno()
  return errnoNames.get(number) ?? `errno ${number}`
}
