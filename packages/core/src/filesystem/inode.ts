import type { ByteString, FileKind, Ino, Name } from '@cairn/protocol'
import type { Content } from '../content/content.ts'
import type { Time } from '../ports/records.ts'

export type Kind = FileKind

export function isDevice(kind: Kind): boolean {
  return kind === 'character' || kind === 'block'
}

export function compareTimes(a: Time, b: Time): number {
  return a.sec - b.sec || a.nsec - b.nsec
}

/** For what never goes back, whatever the clock of the next writer says. */
export function laterTime(a: Time, b: Time): Time {
  return compareTimes(a, b) < 0 ? b : a
}

/** One name of an inode. */
export interface Link {
  readonly parent: Ino
  readonly name: Name
}

export interface Dentry {
  readonly ino: Ino
  readonly kind: Kind
}

export type Xattrs = ReadonlyMap<ByteString, Uint8Array>

/**
 * Never changed in place: a change makes a new one, so a reader that holds the old one sees the
 * past.
 */
export interface Inode {
  readonly kind: Kind
  /** Permission, set-id and sticky bits: 0 to 0o7777. */
  readonly mode: number
  readonly uid: number
  readonly gid: number
  /** Bytes of a file or of a symlink's target; number of entries of a directory. */
  readonly size: number
  /** INVARIANT: names of a file; 2 + subdirectories of a directory; 0 once it has no name. */
  readonly nlink: number
  readonly rdev: number
  readonly atime: Time
  readonly mtime: Time
  readonly ctime: Time
  /**
   * Its only name. INVARIANT: undefined for the root, without a name, and with two names or more, which
   * then stand under link keys. So an inode always knows its path, and one name costs no extra key.
   */
  readonly home: Link | undefined
  readonly target: Uint8Array | undefined
  readonly xattrs: Xattrs | undefined
  /** Files only. */
  readonly content: Content | undefined
}

export const modeBits = {
  setuid: 0o4000,
  setgid: 0o2000,
  sticky: 0o1000,
  groupExecute: 0o010,
  all: 0o7777,
} as const
