import { constants } from 'node:fs'

export const {
  O_APPEND,
  O_CREAT,
  O_DIRECTORY,
  O_EXCL,
  O_NOFOLLOW,
  O_RDONLY,
  O_RDWR,
  O_TRUNC,
  O_WRONLY,
  S_IFBLK,
  S_IFCHR,
  S_IFDIR,
  S_IFIFO,
  S_IFLNK,
  S_IFREG,
} = constants

// Node does not know the following; their values are the same on every Linux architecture.
export const O_PATH = 0o10000000
export const S_IFSOCK = 0o140000

export const SEEK_SET = 0
export const SEEK_CUR = 1
export const SEEK_END = 2
export const SEEK_DATA = 3
export const SEEK_HOLE = 4

export const RENAME_NOREPLACE = 1
export const RENAME_EXCHANGE = 2

export const FALLOC_FL_KEEP_SIZE = 0x01
export const FALLOC_FL_PUNCH_HOLE = 0x02
export const FALLOC_FL_ZERO_RANGE = 0x10

export const XATTR_CREATE = 1
export const XATTR_REPLACE = 2

export const MiB = 1024 * 1024
export const GiB = 1024 * MiB
