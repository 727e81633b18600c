import {
  applyOp,
  Changes,
  type Content,
  type Dentry,
  type FoldedBlock,
  type Inode,
  type Link,
  type NamedDentry,
  type Op,
  type View,
} from '@cairn/core'
import type { Ino, Name } from '@cairn/protocol'
import { applyAndCount, counted } from './count-bytes.ts'
import { Directory } from './directory.ts'
import { LastChanges } from './last-changes.ts'
import { ImageMiss } from './miss.ts'

/** What an answer of the server says of one inode. */
export interface LoadedInode {
  readonly ino: Ino
  readonly inode: Inode
  /** Its names when it has two or more. */
  readonly links: readonly Link[]
}

export interface LoadedEntry extends LoadedInode {
  readonly name: Name
  /** The inode has changed since; only its name and kind are to be believed. */
  readonly outdated: boolean
}

/**
 * What the mount knows of the tree. A directory is known with all its names or not at all; whatever the mount itself
 * changed was known before, and stays known until the server has it. Files' bytes are elsewhere (data/).
 *
 * What was not used for long is dropped, a directory at a time with the inodes in it (`Forgetting`). From then on it is
 * like one that was never loaded.
 */
export class Image implements View {
  readonly lastChanges: LastChanges = new LastChanges()
  readonly #inodes = new Map<Ino, Inode>()
  readonly #directories = new Map<Ino, Directory>()
  readonly #links = new Map<Ino, readonly Link[]>()
  readonly #nameless = new Set<Ino>()
  /** Names in directories that are not known, or not any more: the kernel may know them. */
  readonly #left = new Map<Ino, Directory>()
  /** Hears that there may be more inodes than before. */
  readonly #onGrowth: () => void
  #clock = 0
  /** Given to a file that is being made: no client has it yet, and there is nothing to load. */
  #unborn: Ino | undefined

  constructor(onGrowth: () => void = () => undefined) {
    this.#onGrowth = onGrowth
  }

  get inodeCount(): number {
    return this.#inodes.size
  }

  /** Files that have lost their last name and are not gone. */
  get nameless(): ReadonlySet<Ino> {
    return this.#nameless
  }

  inode(ino: Ino): Inode | undefined {
    const inode = this.#inodes.get(ino)
    if (inode !== undefined) return inode
    if (ino === this.#unborn) return undefined
    throw new ImageMiss('inode', ino)
  }

  child(parent: Ino, name: Name): Dentry | undefined {
    return this.directory(parent).get(name)
  }

  links(ino: Ino): readonly Link[] {
    return this.#links.get(ino) ?? []
  }

  blockFrom(): FoldedBlock | undefined {
    return undefined
  }

  entries(parent: Ino, after: Name | undefined, limit: number): readonly NamedDentry[] {
    return [...this.directory(parent)]
      .filter(({ name }) => after === undefined || name > after)
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .slice(0, limit)
  }

  directory(ino: Ino): Directory {
    const directory = this.#directories.get(ino)
    if (!directory) throw new ImageMiss('directory', ino)
    directory.usedAt = ++this.#clock
    directory.isUsed = true
    return directory
  }

  /** Directories that were looked into since they were loaded. */
  *usedDirectories(): Generator<Ino> {
    for (const [ino, { isUsed }] of this.#directories) if (isUsed) yield ino
  }

  knows(ino: Ino): boolean {
    return this.#inodes.has(ino)
  }

  knowsDirectory(ino: Ino): boolean {
    return this.#directories.has(ino)
  }

  /**
   * What operations would change. Throws the errno of the first that fails, or what is to be loaded first. `apply` is
   * `applyNewOp` for operations that the server does not have yet.
   */
  plan(ops: readonly Op[], apply: typeof applyOp = applyOp): Changes {
    const changes = new Changes(this)
    try {
      for (const op of ops) {
        this.#unborn = op.type === 'create' ? op.ino : undefined
        applyAndCount(changes, op, apply)
      }
    } finally {
      // From here on the file may be there, at the server: the next lookup loads it.
      this.#unborn = undefined
    }
    return changes
  }

  absorb(changes: Changes): void {
    this.lastChanges.note(changes)
    for (const [ino, inode] of changes.inodes) {
      if (inode) this.#set(ino, inode)
      else this.#remove(ino)
      if (inode?.kind === 'directory' && isNew(inode) && !this.#directories.has(ino))
        this.#keep(ino, new Directory())
    }
    for (const [ino, links] of changes.linkSets) this.#setLinks(ino, links)
    for (const [parent, names] of changes.children) {
      const directory = this.directory(parent)
      for (const [name, dentry] of names)
        if (dentry) directory.set(name, dentry)
        else directory.delete(name)
    }
  }

  /** How many bytes a file takes, as the server says of the content that it had then. */
  count(ino: Ino, content: Content | undefined, bytes: number | undefined): void {
    const inode = this.#inodes.get(ino)
    if (!inode?.content || inode.content !== content) return
    this.#inodes.set(ino, { ...inode, content: counted(inode, bytes) })
  }

  /** What is known already stays: it is at least as new. */
  install({ ino, inode, links }: LoadedInode): void {
    if (this.#inodes.has(ino)) return
    this.#set(ino, inode)
    this.#setLinks(ino, links)
    if (inode.kind === 'directory') return
    for (const { parent, name } of inode.home ? [inode.home] : links)
      if (!this.#directories.has(parent)) this.#leftIn(parent).set(name, { ino, kind: inode.kind })
  }

  installDirectory(ino: Ino, entries: readonly LoadedEntry[]): void {
    if (this.#directories.has(ino)) return
    const directory = new Directory()
    for (const entry of entries) {
      if (!entry.outdated) this.install(entry)
      directory.set(entry.name, { ino: entry.ino, kind: entry.inode.kind })
    }
    this.#keep(ino, directory)
    for (const { name } of this.toldNames(ino, this.#left.get(ino)))
      if (!directory.get(name)) directory.absent.add(name)
    this.#left.delete(ino)
  }

  /** The kernel is told that there is no such name. */
  noteAbsent(parent: Ino, name: Name): void {
    this.directory(parent).absent.add(name)
  }

  /** What the kernel may know of a directory: names, and names that are not there. */
  *toldNames(
    ino: Ino,
    directory: Directory | undefined = this.#directories.get(ino) ?? this.#left.get(ino),
  ): Generator<{ readonly name: Name; readonly dentry: Dentry | undefined }> {
    if (!directory) return
    for (const dentry of directory) yield { name: dentry.name, dentry }
    for (const name of directory.absent) yield { name, dentry: undefined }
  }

  #keep(ino: Ino, directory: Directory): void {
    directory.usedAt = ++this.#clock
    this.#directories.set(ino, directory)
  }

  #leftIn(parent: Ino): Directory {
    let left = this.#left.get(parent)
    if (!left) this.#left.set(parent, (left = new Directory()))
    left.usedAt = ++this.#clock
    return left
  }

  /** Unknown from here on; the next request that needs it loads it. */
  drop(ino: Ino): void {
    this.lastChanges.noteUnknown(ino)
    this.#remove(ino)
  }

  #remove(ino: Ino): void {
    this.#inodes.delete(ino)
    this.#nameless.delete(ino)
    const directory = this.#directories.get(ino)
    if (directory) this.#left.set(ino, directory)
    this.#directories.delete(ino)
    this.#links.delete(ino)
  }

  /** Counts uses of directories. */
  get clock(): number {
    return this.#clock
  }

  /** All of which something is known, and when each was used last. */
  *uses(): Generator<{ readonly ino: Ino; readonly usedAt: number }> {
    for (const directories of [this.#directories, this.#left])
      for (const [ino, { usedAt }] of directories) yield { ino, usedAt }
  }

  /** When the directory was used last; undefined where nothing is known in it. */
  usedAt(ino: Ino): number | undefined {
    return (this.#directories.get(ino) ?? this.#left.get(ino))?.usedAt
  }

  /**
   * Unknown from here on, with the inodes that have names there, as if it had never been loaded. The caller has the
   * kernel forget the names.
   */
  dropDirectory(ino: Ino): void {
    for (const directory of [this.#directories.get(ino), this.#left.get(ino)])
      for (const { ino: child } of directory ?? []) {
        this.#inodes.delete(child)
        this.#links.delete(child)
      }
    this.#directories.delete(ino)
    this.#left.delete(ino)
  }

  clear(): void {
    this.lastChanges.noteEverything()
    this.#inodes.clear()
    this.#nameless.clear()
    this.#directories.clear()
    this.#links.clear()
    this.#left.clear()
  }

  /** Those of which the kernel may know names. */
  *toldDirectories(): Generator<Ino> {
    yield* this.#directories.keys()
    yield* this.#left.keys()
  }

  /** What a name leads to, if it is known. */
  find(parent: Ino, name: Name): Ino | undefined {
    if (this.#directories.has(parent)) return this.child(parent, name)?.ino
    return this.#left.get(parent)?.get(name)?.ino ?? this.#linkedAt(parent, name)
  }

  /** The kernel was told that a name in a directory that is not known may lead elsewhere. */
  leaveName(parent: Ino, name: Name): void {
    this.#left.get(parent)?.delete(name)
  }

  /** The inode with several names that has this one among them, if it is known. */
  #linkedAt(parent: Ino, name: Name): Ino | undefined {
    for (const [ino, links] of this.#links)
      if (links.some((link) => link.parent === parent && link.name === name)) return ino
    return undefined
  }

  #set(ino: Ino, inode: Inode): void {
    this.#inodes.set(ino, inode)
    if (inode.nlink === 0) this.#nameless.add(ino)
    this.#onGrowth()
  }

  #setLinks(ino: Ino, links: readonly Link[]): void {
    if (links.length > 0) this.#links.set(ino, links)
    else this.#links.delete(ino)
  }
}

/** A directory that only this mount can have put names into: made here, a moment ago. */
function isNew(inode: Inode): boolean {
  return inode.size === 0
}
