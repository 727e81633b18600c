import { type ByteString, fromByteString, toByteString } from './bytes.ts'
import { FsError } from './errno.ts'
import type { Name } from './ids.ts'

export const nameBytesMax = 255
/** Linux counts the terminating NUL, so the longest path has 4095 bytes. */
export const pathBytesMax = 4096

/** Checks one component. Throws the errno that a system call would give. */
export function parseName(text: ByteString): Name {
  if (text.length > nameBytesMax) throw new FsError('ENAMETOOLONG')
  if (!isName(text)) throw new FsError('EINVAL')
  return text
}

export function isName(text: ByteString): text is Name {
  if (text === '' || text === '.' || text === '..') return false
  return text.length <= nameBytesMax && !text.includes('/') && !text.includes('\0')
}

/**
 * Parses an absolute or relative path into names, as users type it: repeated and trailing slashes
 * and `.` mean nothing; `..` is refused, because its meaning depends on symlinks that have not been
 * read.
 */
export function parsePath(path: string): Name[] {
  // Encoding would put U+FFFD for half a surrogate pair, and two paths would name one file.
  if (!path.isWellFormed()) throw new FsError('EINVAL')
  const bytes = toByteString(new TextEncoder().encode(path))
  if (bytes.length >= pathBytesMax) throw new FsError('ENAMETOOLONG')
  return bytes
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .map(parseName)
}

const utf8 = new TextDecoder()

/** Bytes that are not UTF-8 are shown as U+FFFD: for people, not for opening the file again. */
export function formatPath(names: readonly Name[]): string {
  return utf8.decode(fromByteString('/' + names.join('/')))
}
