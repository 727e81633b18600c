import type { Inode } from '@cairn/core'
import { FsError, type Ino, rootIno } from '@cairn/protocol'
import type { Contents } from '../data/contents.ts'
import type { Attributes, Entry } from '../fuse/file-system.ts'
import type { Image } from '../image/image.ts'
import type { Caches } from '../sync/caches.ts'
import { attributesOf } from './attributes.ts'
import type { Owners } from './owners.ts'
import type { ToldFile } from './told-file.ts'

/** The kernel's name for the directory that is mounted, whatever its number is. */
const rootNode = 1
/** The server tells what changes, so the kernel may remember for long. */
const ttl = 3600

export interface Attributed {
  readonly attributes: Attributes
  readonly ttl: number
}

/** The kernel's numbers for inodes, what it sees of them, and how often it has been told of each. */
export class Nodes {
  readonly #image: Image
  readonly #contents: Contents
  readonly #owners: Owners
  /** Known as soon as the session is welcome. */
  root: Ino = rootIno
  readonly #counts = new Map<Ino, number>()
  readonly #told: ToldFile
  /** What the kernel may remember from the process before this one. */
  #before: readonly Ino[]

  constructor(image: Image, contents: Contents, owners: Owners, told: ToldFile) {
    this.#owners = owners
    this.#image = image
    this.#contents = contents
    this.#told = told
    // How often that one told it nobody knows; the kernel, when it forgets, forgets all of it.
    for (const ino of told) this.#counts.set(ino, 0)
    this.#before = [...this.#counts.keys()]
  }

  ino(nodeid: number): Ino {
    return nodeid === rootNode ? this.root : (nodeid as Ino)
  }

  nodeid(ino: Ino): number {
    return ino === this.root ? rootNode : ino
  }

  inode(ino: Ino): Inode {
    const inode = this.#image.inode(ino)
    if (!inode) throw new FsError('ESTALE')
    return inode
  }

  attributed(ino: Ino): Attributed {
    return { attributes: this.#attributes(ino, this.inode(ino)), ttl }
  }

  /** Told to the kernel, which will say when it has forgotten it. */
  entry(ino: Ino): Entry {
    const entry = this.peek(ino)
    this.count(ino)
    return entry
  }

  peek(ino: Ino): Entry {
    return { nodeid: this.nodeid(ino), attributes: this.#attributes(ino, this.inode(ino)), ttl }
  }

  count(ino: Ino): void {
    const count = this.#counts.get(ino)
    this.#counts.set(ino, (count ?? 0) + 1)
    if (count === undefined && !this.#told.add(ino))
      this.#told.rewrite(this.#counts.keys(), this.#counts.size)
  }

  /** True when the kernel has forgotten it altogether. */
  forget(ino: Ino, count: number): boolean {
    const left = (this.#counts.get(ino) ?? 0) - count
    if (left > 0) {
      this.#counts.set(ino, left)
      return false
    }
    this.#counts.delete(ino)
    return true
  }

  /** Everything the kernel may remember. */
  known(): IterableIterator<Ino> {
    return this.#counts.keys()
  }

  /** The attributes that the process before this one told are asked for anew. */
  forgetBefore(caches: Caches): void {
    for (const ino of this.#before) caches.attributes(ino)
    this.#before = []
  }

  #attributes(ino: Ino, inode: Inode): Attributes {
    const allocated = inode.kind === 'file' ? this.#contents.allocated(ino, inode) : 0
    return attributesOf(ino, inode, allocated, this.#owners)
  }
}
