import {
  type ByteString,
  type FileStat,
  fromFsError,
  FsError,
  isFsError,
  isName,
  nameBytesMax,
  parsePath,
  pathBytesMax,
  type Spelled,
  toByteString,
} from '@cairn/protocol'
import { CairnError } from './error.ts'

/** Text, or the bytes of a path that is not UTF-8. Relative ones begin at the root. */
export type FilePath = string | Uint8Array

/**
 * Percent-encodes a path for a URL. What the server would refuse is refused here, because a URL parser resolves
 * `..`, even when it is encoded: the request would go somewhere else.
 */
export function encodePath(path: FilePath, what: string): string {
  try {
    const names = typeof path === 'string' ? parsePath(path) : parseBytes(path)
    return names.map((name) => `/${encodeName(name)}`).join('') || '/'
  } catch (error) {
    if (isFsError(error)) throw fromFsError(what, error)
    throw error
  }
}

function parseBytes(path: Uint8Array): ByteString[] {
  if (path.length >= pathBytesMax) throw new FsError('ENAMETOOLONG')
  const parts = toByteString(path).split('/')
  const names = parts.filter((part) => part !== '' && part !== '.')
  for (const name of names) {
    if (name.length > nameBytesMax) throw new FsError('ENAMETOOLONG')
    if (!isName(name)) throw new FsError('EINVAL')
  }
  return names
}

function encodeName(name: ByteString): string {
  return name.replace(
    /[^A-Za-z0-9\-._~]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )
}

/**
 * What to hand to a method for something that a listing or a stat told of: its path or, where that is not UTF-8, the
 * bytes of it.
 *
 * @example
 * ```ts
 * for await (const entry of workspace.files.walk('/')) await workspace.files.stat(exactPathOf(entry))
 * ```
 */
export function exactPathOf({ path, pathBytes }: Pick<FileStat, 'path' | 'pathBytes'>): FilePath {
  if (pathBytes === undefined) return path
  return Uint8Array.from(atob(pathBytes), (character) => character.charCodeAt(0))
}

/**
 * The field of a batch's operation that has a path: `path` or, for bytes, `pathBytes`.
 *
 * @example
 * ```ts
 * await workspace.batch([{ op: 'remove', ...spelled('path', exactPathOf(entry)) }])
 * ```
 */
export function spelled<Field extends string>(field: Field, path: FilePath): Spelled<Field> {
  const pair =
    typeof path === 'string' ? [field, path] : [`${field}Bytes`, btoa(toByteString(path))]
  return Object.fromEntries([pair]) as Spelled<Field>
}

/** For messages. */
export function showPath(path: FilePath): string {
  return typeof path === 'string' ? path : new TextDecoder().decode(path)
}

/** One segment of a URL that is no file path: a workspace, an upload. */
export function encodeSegment(text: string, what: string): string {
  if (text === '' || text === '.' || text === '..' || !text.isWellFormed())
    throw new CairnError('invalid_argument', {
      what,
      reason: `'${text}' is no name`,
      hint: 'Give a name of letters, digits, dots, dashes and underscores.',
    })
  return encodeURIComponent(text)
}
