import type { Inode } from '@cairn/core'
import { FsError, type Ino, rootIno } from '@cairn/protocol'
import type { Attributes, Entry } from '../fuse/file-system.ts'
import { isGuess } from '../image/count-bytes.ts'
import type { Image } from '../image/image.ts'
import type { Caches } from './caches.ts'
import type { Contested } from './contested.ts'
import { ImageMiss } from '../image/miss.ts'
import { NewlyTold } from './newly-told.ts'
import { attributesOf } from './attributes.ts'
import type { Owners } from './owners.ts'
import type { ToldFile } from './told-file.ts'

/** The kernel's name for the directory that is mounted, whatever its number is. */
const rootNode = 1
/** The server tells what changes, so the kernel may remember for long. */
const ttl = 3600
/**
 * A file that was replaced as a whole is another one to the kernel: the same inode number, and this much more as the
 * kernel's own. What is below is the inode's.
 */
const versionStep = 2 ** 40
/** In `#counts`. */
const once = 2
/** Numbers above are of `.cairn`. */
const versions = 2 ** 12

export interface Attributed {
  readonly attributes: Attributes
  readonly ttl: number
}

/** The kernel's numbers for inodes, what it sees of them, and how often it has been told of each. */
export class KernelNodes {
  readonly #image: Image
  readonly #owners: Owners
  readonly #contested: Pick<Contested, 'has'>
  readonly #caches: Pick<Caches, 'isForgetting'>
  /** Known as soon as the session is welcome. */
  root: Ino = rootIno
  /** By the kernel's numbers: twice how often it was told, and one more for a file. One number takes the least memory. */
  readonly #counts = new Map<number, number>()
  /** Versions of the inodes that were replaced. */
  readonly #versions = new Map<Ino, number>()
  readonly #told: ToldFile
  readonly #newlyTold = new NewlyTold()
  /** What the kernel forgot of all that the image does not know: told by the process before, or dropped since. */
  #forgotten: 'nothing' | 'attributes' | 'bytes' = 'nothing'

  constructor(
    image: Image,
    owners: Owners,
    told: ToldFile,
    contested: Pick<Contested, 'has'>,
    caches: Pick<Caches, 'isForgetting'>,
  ) {
    this.#owners = owners
    this.#caches = caches
    this.#contested = contested
    this.#image = image
    this.#told = told
    // How often the earlier process told the kernel is unknown; when the kernel forgets, it forgets
    // all of it.
    for (const nodeid of told) {
      if (nodeid < 0) {
        this.#counts.delete(-nodeid)
        continue
      }
      this.#counts.set(nodeid, 0)
      const [ino, version] = [this.inoOf(nodeid), Math.floor(nodeid / versionStep)]
      if (version > (this.#versions.get(ino) ?? 0)) this.#versions.set(ino, version)
    }
  }

  /** Throws ESTALE for a file that was replaced since the kernel was told of it. */
  ino(nodeid: number): Ino {
    const ino = this.inoOf(nodeid)
    if (nodeid !== this.nodeid(ino)) throw new FsError('ESTALE')
    return ino
  }

  /** Also of one that was replaced. */
  inoOf(nodeid: number): Ino {
    if (nodeid === rootNode) return this.root
    return (nodeid < versionStep ? nodeid : nodeid % versionStep) as Ino
  }

  nodeid(ino: Ino): number {
    if (ino === this.root) return rootNode
    return this.#versions.size === 0 ? ino : ino + (this.#versions.get(ino) ?? 0) * versionStep
  }

  /**
   * The file has become another one. A program that has it open sees the kernel's copy of the old
   * one, or ESTALE, and never a mixture. False when they cannot be told apart any more.
   */
  replace(ino: Ino): boolean {
    if (!this.#counts.has(this.nodeid(ino))) return true
    const version = (this.#versions.get(ino) ?? 0) + 1
    if (version === versions || ino >= versionStep) return false
    this.#versions.set(ino, version)
    // Noted before the kernel is told: the next process must not take the old one for it.
    this.#note(this.nodeid(ino))
    return true
  }

  inode(ino: Ino): Inode {
    const inode = this.#image.inode(ino)
    if (!inode) throw new FsError('ESTALE')
    return inode
  }

  attributed(ino: Ino): Attributed {
    this.#requireForgotten(ino)
    const inode = this.inode(ino)
    return { attributes: this.#attributes(ino, inode), ttl: isGuess(inode) ? 0 : ttl }
  }

  /** It is unknown which files have been replaced, so all known files have. */
  replaceAll(): void {
    for (const ino of this.known()) if (this.isFile(ino)) this.replace(ino)
  }

  /** Told to the kernel, which will say when it has forgotten it. */
  entry(ino: Ino): Entry {
    this.#requireForgotten(ino)
    const entry = this.peek(ino)
    this.count(ino)
    return entry
  }

  /**
   * With the size, the kernel would show the new end of the file in pages from before it: as zeros. It drops such pages
   * when it hears of another size, but after it has begun to show that size to other programs.
   */
  #requireForgotten(ino: Ino): void {
    if (this.#caches.isForgetting(ino) && this.inode(ino).kind === 'file')
      throw new ImageMiss('pages', ino)
  }

  peek(ino: Ino): Entry {
    const inode = this.inode(ino)
    const isAskedAgain = this.#contested.has(inode.home?.parent) || isGuess(inode)
    return {
      nodeid: this.nodeid(ino),
      attributes: this.#attributes(ino, inode),
      ttl: isAskedAgain ? 0 : ttl,
    }
  }

  count(ino: Ino): void {
    const nodeid = this.nodeid(ino)
    const count = this.#counts.get(nodeid)
    this.#counts.set(nodeid, (count === undefined ? Number(this.isFile(ino)) : count) + once)
    if (count === undefined) this.#note(nodeid)
    this.#newlyTold.add(nodeid)
  }

  #note(nodeid: number): void {
    if (this.#told.add(nodeid)) return
    const replaced = [...this.#versions.keys()].map((ino) => this.nodeid(ino))
    const all = new Set([...this.#counts.keys(), ...replaced])
    this.#told.rewrite(all, all.size)
  }

  forget(nodeid: number, count: number): void {
    const left = (this.#counts.get(nodeid) ?? 0) - count * once
    if (left >= once) return void this.#counts.set(nodeid, left)
    this.#counts.delete(nodeid)
    // The next process would hold it for as long as the mount lasts.
    if (this.#image.nameless.has(this.inoOf(nodeid))) this.#note(-nodeid)
  }

  /** Whether the kernel was told of it and may remember something. The root of the mount it always knows. */
  isKnown(ino: Ino): boolean {
    return ino === this.root || this.#counts.has(this.nodeid(ino))
  }

  /** Whether the kernel may not have taken in yet that there is such an inode. */
  isNew(ino: Ino): boolean {
    return this.#newlyTold.has(this.nodeid(ino))
  }

  /** Everything the kernel may remember, as it is now. */
  *known(): Generator<Ino> {
    for (const nodeid of this.#counts.keys()) {
      const ino = this.inoOf(nodeid)
      if (nodeid === this.nodeid(ino)) yield ino
    }
  }

  /** As far as it is known. */
  isFile(ino: Ino): boolean {
    if (this.#image.knows(ino)) return this.#image.inode(ino)!.kind === 'file'
    return (this.#counts.get(this.nodeid(ino)) ?? 0) % once === 1
  }

  /** The image does not know some inodes any more; the kernel may. */
  noteDropped(): void {
    this.#forgotten = 'nothing'
  }

  /** The attributes of what the image does not know are asked for anew. */
  forgetUnknownAttributes(caches: Caches): void {
    if (this.#forgotten !== 'nothing') return
    this.#forgotten = 'attributes'
    for (const ino of this.#unknown()) caches.attributes(ino)
  }

  /** The same for bytes. */
  forgetUnknownBytes(caches: Caches): void {
    if (this.#forgotten === 'bytes') return
    this.#forgotten = 'bytes'
    for (const ino of this.#unknown()) caches.bytes(ino, 0, 0)
  }

  *#unknown(): Generator<Ino> {
    for (const ino of this.known()) if (!this.#image.knows(ino)) yield ino
  }

  /** The kernel forgets attributes and bytes of everything, also of what the process before this one told. */
  forgetAll(caches: Caches): void {
    for (const ino of this.known()) caches.bytes(ino, 0, 0)
    this.#forgotten = 'bytes'
  }

  #attributes(ino: Ino, inode: Inode): Attributes {
    return attributesOf(ino, inode, this.#owners)
  }
}
