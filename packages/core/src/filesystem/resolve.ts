import {
  type ByteString,
  FsError,
  type Ino,
  type Name,
  nameBytesMax,
  pathBytesMax,
  rootIno,
  toByteString,
} from '@cairn/protocol'
import { type Credentials, isRoot, searchable } from './access.ts'
import type { Dentry } from './inode.ts'
import { getInode } from './rules/directory.ts'
import type { View } from './view.ts'

/** As many symlinks as Linux follows in one walk. */
const symlinksMax = 40

/** Where a path leads: a directory, and the last name in it, which may be free. */
export interface Resolved {
  /** The directory the last name is looked up in; of a path that ends in a directory itself, that one. */
  readonly parent: Ino
  /** Undefined for `/`, and for a path that ends with `.` or `..`. */
  readonly name: Name | undefined
  /** Undefined where the name is free. */
  readonly dentry: Dentry | undefined
  /** The path ended with a slash: only a directory will do. */
  readonly directoryOnly: boolean
}

/**
 * A path walked up to its last component, which has not been looked up: it may be a symlink or too
 * long.
 */
export interface PathEnd {
  readonly parent: Ino
  /** `.` and `..` included; empty for `/`. */
  readonly last: ByteString
  readonly directoryOnly: boolean
}

export interface WalkOptions {
  readonly who: Credentials
  /** Where relative paths start. The root by default. */
  readonly from?: Ino
}

export interface ResolvePathOptions extends WalkOptions {
  /** Follow a symlink at the end, too. */
  readonly follow: boolean
  /** A free name will be made a file: with a slash behind it that is EISDIR, whatever is there. */
  readonly create?: boolean
}

/**
 * Walks a path of any bytes as Linux does. Throws what Linux answers: ENOENT for a missing directory on the way,
 * ENOTDIR, EACCES where one may not be searched, ELOOP, ENAMETOOLONG.
 */
export function resolvePath(view: View, path: ByteString, options: ResolvePathOptions): Resolved {
  return new Walk(view, options).toEnd(path, options)
}

/** For calls on something that must be there. Throws also ENOENT, and ENOTDIR for a slash behind no directory. */
export function resolveExisting(view: View, path: ByteString, options: ResolvePathOptions): Dentry {
  const { dentry, directoryOnly } = resolvePath(view, path, options)
  if (!dentry) throw new FsError('ENOENT')
  if (directoryOnly && dentry.kind !== 'directory') throw new FsError('ENOTDIR')
  return dentry
}

/** For calls that make or take away the last name. They do not follow a symlink there, slash or not. */
export function resolveParent(view: View, path: ByteString, options: WalkOptions): PathEnd {
  return new Walk(view, options).toParent(path)
}

class Walk {
  readonly #view: View
  readonly #who: Credentials
  #followed = 0
  #at: Ino

  constructor(view: View, options: WalkOptions) {
    this.#view = view
    this.#who = options.who
    this.#at = options.from ?? rootIno
  }

  toParent(path: ByteString): PathEnd {
    if (path === '') throw new FsError('ENOENT')
    if (path.length >= pathBytesMax) throw new FsError('ENAMETOOLONG')
    if (path.startsWith('/')) this.#at = rootIno
    const parts = path.split('/').filter((part) => part !== '')
    const last = parts.pop() ?? ''
    for (const part of parts) this.#enter(part)
    // Also where the last component is a dot: a caller without search permission on a directory
    // learns nothing below it.
    this.#search()
    return { parent: this.#at, last, directoryOnly: path.endsWith('/') }
  }

  toEnd(path: ByteString, { follow, create }: ResolvePathOptions): Resolved {
    for (let slashed = false; ;) {
      const place = this.toParent(path)
      // A slash behind the link counts as well as one behind its target.
      slashed ||= place.directoryOnly
      const { last } = place
      if (last === '' || last === '.' || last === '..') return this.#atDirectory(last)
      if (slashed && create) throw new FsError('EISDIR')
      const dentry = this.#lookup(last)
      // A slash follows a final symlink whatever was asked for.
      if (dentry?.kind !== 'symlink' || !(follow || slashed))
        return { parent: this.#at, name: last as Name, dentry, directoryOnly: slashed }
      path = this.#readTarget(dentry.ino)
    }
  }

  #atDirectory(last: '' | '.' | '..'): Resolved {
    if (last !== '') this.#enter(last)
    const { kind } = getInode(this.#view, this.#at)
    const dentry = { ino: this.#at, kind }
    return { parent: this.#at, name: undefined, dentry, directoryOnly: true }
  }

  #enter(part: ByteString): void {
    this.#search()
    if (part === '.') return
    if (part === '..') {
      this.#at = getInode(this.#view, this.#at).home?.parent ?? this.#at
      return
    }
    const dentry = this.#lookup(part)
    if (!dentry) throw new FsError('ENOENT')
    if (dentry.kind === 'symlink') this.#enterTarget(this.#readTarget(dentry.ino))
    else this.#at = dentry.ino
    if (getInode(this.#view, this.#at).kind !== 'directory') throw new FsError('ENOTDIR')
  }

  /** No attribute of `/` keeps the superuser out: its walk does not depend on them, and does not look at them. */
  #search(): void {
    if (this.#at === rootIno && isRoot(this.#who)) return
    searchable(this.#view, this.#at, this.#who)
  }

  #enterTarget(target: ByteString): void {
    if (target.startsWith('/')) this.#at = rootIno
    for (const part of target.split('/')) if (part !== '') this.#enter(part)
  }

  /** The caller has searched the directory. */
  #lookup(part: ByteString): Dentry | undefined {
    if (part.length > nameBytesMax) throw new FsError('ENAMETOOLONG')
    return this.#view.child(this.#at, part as Name)
  }

  #readTarget(ino: Ino): ByteString {
    if (++this.#followed > symlinksMax) throw new FsError('ELOOP')
    return toByteString(getInode(this.#view, ino).target!)
  }
}

/** The names that lead to a directory or file; of a file with several, one of them. Undefined if it has none. */
export function pathOf(view: View, ino: Ino): Name[] | undefined {
  const names: Name[] = []
  for (let at = ino; at !== rootIno;) {
    const inode = view.inode(at)
    const link = inode?.home ?? (inode && inode.nlink > 1 ? view.links(at)[0] : undefined)
    if (!link) return undefined
    names.push(link.name)
    at = link.parent
  }
  return names.reverse()
}
