/** The answers a file system gives, with Linux's numbers. An answer is ordinary; a CairnError is not. */
export const errnoTable = {
  EPERM: [1, 'operation not permitted'],
  ENOENT: [2, 'no such file or directory'],
  EINTR: [4, 'interrupted'],
  EIO: [5, 'input/output error'],
  ENXIO: [6, 'no such device or address'],
  E2BIG: [7, 'argument list too long'],
  EBADF: [9, 'bad file descriptor'],
  EAGAIN: [11, 'try again'],
  EACCES: [13, 'permission denied'],
  EBUSY: [16, 'busy'],
  EEXIST: [17, 'file exists'],
  EXDEV: [18, 'cross-device link'],
  ENODEV: [19, 'no such device'],
  ENOTDIR: [20, 'not a directory'],
  EISDIR: [21, 'is a directory'],
  EINVAL: [22, 'invalid argument'],
  ETXTBSY: [26, 'text file busy'],
  EFBIG: [27, 'file too large'],
  ENOSPC: [28, 'no space left'],
  ESPIPE: [29, 'illegal seek'],
  EROFS: [30, 'read-only file system'],
  EMLINK: [31, 'too many links'],
  ERANGE: [34, 'result too large'],
  ENAMETOOLONG: [36, 'file name too long'],
  ENOLCK: [37, 'no locks available'],
  ENOTEMPTY: [39, 'directory not empty'],
  ELOOP: [40, 'too many symbolic links'],
  ENODATA: [61, 'no such attribute'],
  EPROTO: [71, 'protocol error'],
  EOVERFLOW: [75, 'value too large'],
  EOPNOTSUPP: [95, 'operation not supported'],
  ETIMEDOUT: [110, 'timed out'],
  ESTALE: [116, 'stale file handle'],
  EDQUOT: [122, 'quota exceeded'],
} as const
errnoTable satisfies Record<string, readonly [number: number, meaning: string]>

export type Errno = keyof typeof errnoTable

/** What to do about the answers of a file system that people meet most. */
export const errnoHints: Readonly<Partial<Record<Errno, string>>> = {
  ENOENT: 'Check the path, or list the directory it should be in.',
  EEXIST: 'Choose another name, or remove what is there first.',
  ENOTDIR: 'Something on the way is a file. Check the path.',
  EISDIR: 'List it, or name a file in it.',
  ENOTEMPTY: 'Remove what is in it first, or remove it recursively.',
  EACCES: 'Ask the owner for a token that allows it.',
  EPERM: 'Ask the owner for a token that allows it.',
  EINVAL: 'A path has no "..", no NUL and no half of a surrogate pair.',
  ENAMETOOLONG: 'A name has at most 255 bytes, a path 4095.',
  ELOOP: 'The symlinks on the way lead in a circle. Correct one of them.',
  ENOSPC: 'Free some space on the server, then try again.',
  EDQUOT: 'Free some space in the workspace, then try again.',
}

export class FsError extends Error {
  override readonly name = 'FsError'
  readonly code: Errno

  constructor(code: Errno) {
    super(`${code}: ${errnoTable[code][1]}`)
    this.code = code
  }
}

/** By name, not by class: two copies of this package may meet in one process. */
export function isFsError(error: unknown, code?: Errno): error is FsError {
  if (!(error instanceof Error) || error.name !== 'FsError') return false
  return code === undefined || (error as FsError).code === code
}
