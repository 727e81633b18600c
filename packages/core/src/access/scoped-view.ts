import {
  allows,
  type ByteString,
  type Grant,
  type Ino,
  isInScope,
  isVisible,
  isWithin,
  type Name,
  rootIno,
  seesAll,
} from '@cairn/protocol'
import type { FoldedBlock } from '../content/content.ts'
import type { Dentry, Inode, Link } from '../filesystem/inode.ts'
import { pathOf } from '../filesystem/resolve.ts'
import type { NamedDentry, View } from '../filesystem/view.ts'
import { hiddenName, joinNames, parentPath, pathBelow, pathsOf } from './paths.ts'

/** The tree as a token sees it. */
export function scopedView(view: View, grant: Grant, shown?: Shown): View {
  return seesAll(grant) ? view : new ScopedView(view, grant, shown)
}

/**
 * Which inodes have been shown: an inode that loses its last name stays visible to callers that
 * knew it, as an open file does.
 */
export interface Shown {
  has(ino: Ino): boolean
  add(ino: Ino): void
}

const pageSize = 100

/**
 * What is out of scope is not there: it is not found, not listed and not counted. Of a directory that is only on the
 * way, nothing but the way is there. What may be done with what is there is asked elsewhere.
 */
class ScopedView implements View {
  readonly #view: View
  readonly #grant: Grant
  readonly #shown: Shown | undefined

  constructor(view: View, grant: Grant, shown: Shown | undefined) {
    this.#view = view
    this.#grant = grant
    this.#shown = shown
  }

  inode(ino: Ino): Inode | undefined {
    const inode = this.#view.inode(ino)
    if (!inode) return undefined
    if (inode.nlink === 0) return this.#shown?.has(ino) ? inode : undefined
    const path = pathsOf(this.#view, ino).find((each) => isVisible(this.#grant, each))
    if (path === undefined) return undefined
    this.#shown?.add(ino)
    return inode.kind === 'directory' ? this.#masked(ino, inode, path) : inode
  }

  child(parent: Ino, name: Name): Dentry | undefined {
    const directory = this.#pathOf(parent)
    if (directory === undefined || !isVisible(this.#grant, pathBelow(directory, name)))
      return undefined
    return this.#view.child(parent, name)
  }

  /** There are as many as the inode says, or removing one would look like removing the last. */
  links(ino: Ino): readonly Link[] {
    const hidden = { parent: rootIno, name: hiddenName }
    return this.#view.links(ino).map((link) => (this.#isSeen(link) ? link : hidden))
  }

  blockFrom(ino: Ino, index: number): FoldedBlock | undefined {
    return this.#view.blockFrom(ino, index)
  }

  entries(parent: Ino, after: Name | undefined, limit: number): readonly NamedDentry[] {
    const directory = this.#pathOf(parent)
    if (directory === undefined) return []
    if (!allows(this.#grant, 'list', directory))
      return this.#onTheWay(parent, directory)
        .filter(({ name }) => after === undefined || name > after)
        .slice(0, limit)
    const hidden = this.#deniedIn(directory)
    if (hidden.size === 0) return this.#view.entries(parent, after, limit)
    return this.#without(hidden, parent, after, limit)
  }

  #pathOf(ino: Ino): ByteString | undefined {
    const names = pathOf(this.#view, ino)
    return names && joinNames(names)
  }

  #isSeen({ parent, name }: Link): boolean {
    const directory = this.#pathOf(parent)
    return directory !== undefined && isVisible(this.#grant, pathBelow(directory, name))
  }

  #masked(ino: Ino, inode: Inode, path: ByteString): Inode {
    if (!isInScope(this.#grant, path)) return wayInode(inode, this.#onTheWay(ino, path))
    const hidden = [...this.#deniedIn(path)].flatMap((name) => this.#view.child(ino, name) ?? [])
    const directories = hidden.filter(({ kind }) => kind === 'directory')
    return {
      ...inode,
      size: inode.size - hidden.length,
      nlink: inode.nlink - directories.length,
    }
  }

  /** What of a directory leads to something allowed, in the order of names. */
  #onTheWay(ino: Ino, path: ByteString): readonly NamedDentry[] {
    const names = new Set<Name>()
    for (const { prefix } of this.#grant.rules)
      if (prefix !== path && isWithin(prefix, path)) names.add(nextName(path, prefix))
    return [...names].sort().flatMap((name) => {
      const dentry = this.child(ino, name)
      return dentry ? [{ name, ...dentry }] : []
    })
  }

  /** Names of a directory that are denied themselves. */
  #deniedIn(path: ByteString): ReadonlySet<Name> {
    const denied = this.#grant.deny.filter((each) => each !== '/' && parentPath(each) === path)
    return new Set(denied.map((each) => nextName(path, each)))
  }

  #without(
    hidden: ReadonlySet<Name>,
    parent: Ino,
    after: Name | undefined,
    limit: number,
  ): readonly NamedDentry[] {
    const listed: NamedDentry[] = []
    const count = Math.min(Math.max(limit, pageSize), limit + hidden.size)
    for (let from = after; listed.length < limit;) {
      const page = this.#view.entries(parent, from, count)
      listed.push(...page.filter(({ name }) => !hidden.has(name)))
      if (page.length < count) break
      from = page.at(-1)!.name
    }
    return listed.slice(0, limit)
  }
}

function nextName(directory: ByteString, path: ByteString): Name {
  return path.slice(directory === '/' ? 1 : directory.length + 1).split('/')[0] as Name
}

/** Neither how many there are beside the way nor when they change is to be seen. */
function wayInode(inode: Inode, entries: readonly NamedDentry[]): Inode {
  const still = { sec: 0, nsec: 0 }
  const directories = entries.filter(({ kind }) => kind === 'directory').length
  return {
    ...inode,
    size: entries.length,
    nlink: 2 + directories,
    atime: still,
    mtime: still,
    ctime: still,
    xattrs: undefined,
  }
}
