import type { Ino } from '@cairn/protocol'
import type { Contents } from '../data/contents.ts'
import type { Caches } from '../kernel/caches.ts'
import type { Contested } from '../kernel/contested.ts'
import type { KernelNodes } from '../kernel/nodes.ts'
import type { Image } from '../image/image.ts'
import type { Loader } from '../image/loader.ts'

export interface ForgettingParts {
  readonly image: Image
  readonly contents: Pick<Contents, 'drop' | 'wasRead'>
  readonly loader: Pick<Loader, 'isAtRest' | 'noteDropped'>
  readonly nodes: Pick<KernelNodes, 'root' | 'isKnown' | 'noteDropped'>
  readonly caches: Pick<Caches, 'bytes' | 'canExpire' | 'expire'>
  readonly contested: Pick<Contested, 'has'>
  /** How many inodes the image may have, before what nothing needs is dropped. */
  readonly inodesMax: number
  /** Whether the image may have more of a directory than the log. */
  readonly isPending: (directory: Ino) => boolean
}

/** Inodes that are dropped before the kernel is heard again. */
const inodesPerTurn = 1000
/**
 * A name that was told to the kernel within this time is not told to be looked up again: a program that has the answer
 * and did not run yet would then set the hour for which the kernel remembers it.
 */
const restMs = 100
/** While something is being loaded: a request may need so many together, and must not load them in turn for ever. */
const neededTogether = 4

/**
 * Keeps the image within its budget. What was not used for longest is dropped: the names of one directory together with
 * the inodes in it. From then on the directory is like one of which the process before this one told the kernel: its
 * names are looked up again when they are used, and what the kernel has of its files is in `KernelNodes`.
 *
 * A directory stays while something in it or below it is needed:
 * - it has a change that is not in the log yet, or is itself such a change;
 * - something is known of one of its subdirectories;
 * - the kernel knows one of its subdirectories, and cannot look up a name again without dropping it;
 * - other clients change names in it at this moment.
 */
export class Forgetting {
  readonly #parts: ForgettingParts
  /** The next time that there are more than this. Where much is needed it is more than the budget. */
  #threshold: number
  #isUnderWay = false

  constructor(parts: ForgettingParts) {
    this.#parts = parts
    this.#threshold = parts.inodesMax
  }

  /** There may be more inodes than before. */
  readonly note = (): void => {
    if (this.#isUnderWay || this.#parts.image.inodeCount <= this.#threshold) return
    this.#isUnderWay = true
    const before = this.#parts.image.clock
    setTimeout(() => this.#goOn(this.#leastUsedLast(before)), restMs).unref()
  }

  #leastUsedLast(before: number): { readonly ino: Ino; readonly usedAt: number }[] {
    const { image, loader } = this.#parts
    const uses = [...image.uses()].sort((a, b) => b.usedAt - a.usedAt)
    const needed = loader.isAtRest ? 0 : neededTogether
    return uses.slice(needed).filter(({ usedAt }) => usedAt <= before)
  }

  #goOn(candidates: { readonly ino: Ino; readonly usedAt: number }[]): void {
    const { image, inodesMax } = this.#parts
    const isEnough = (): boolean => image.inodeCount <= inodesMax * (3 / 4)
    const until = image.inodeCount - inodesPerTurn
    while (candidates.length > 0 && !isEnough() && image.inodeCount > until) {
      const { ino, usedAt } = candidates.pop()!
      if (image.usedAt(ino) === usedAt && !this.#isNeeded(ino)) this.#drop(ino)
    }
    if (candidates.length > 0 && !isEnough()) return void setImmediate(() => this.#goOn(candidates))
    this.#threshold = Math.max(inodesMax, image.inodeCount * (4 / 3))
    this.#isUnderWay = false
  }

  #isNeeded(ino: Ino): boolean {
    const { image, nodes, caches, contested, isPending } = this.#parts
    if (isPending(ino) || contested.has(ino)) return true
    const home = image.knows(ino) ? image.inode(ino)?.home : undefined
    if (home && isPending(home.parent)) return true
    for (const { dentry } of image.toldNames(ino)) {
      if (dentry?.kind !== 'directory') continue
      if (image.usedAt(dentry.ino) !== undefined || isPending(dentry.ino)) return true
      if (!caches.canExpire() && nodes.isKnown(dentry.ino)) return true
    }
    return false
  }

  #drop(ino: Ino): void {
    const { image, contents, loader, nodes, caches } = this.#parts
    const isTold = nodes.isKnown(ino)
    const dropped = [ino]
    for (const { name, dentry } of image.toldNames(ino)) {
      if (isTold && (!dentry || nodes.isKnown(dentry.ino))) caches.expire(ino, name)
      if (dentry) dropped.push(dentry.ino)
    }
    image.dropDirectory(ino)
    loader.noteDropped(dropped)
    nodes.noteDropped()
    for (const child of dropped.slice(1)) {
      // Which pages the kernel read is known from here on: none.
      if (contents.wasRead(child) && nodes.isKnown(child)) caches.bytes(child, 0, 0)
      contents.drop(child)
    }
  }
}
