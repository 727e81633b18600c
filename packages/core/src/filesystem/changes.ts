import type { Ino, Name } from '@cairn/protocol'
import type { FoldedBlock } from '../content/content.ts'
import { runAtOnce, type Steps } from '../tree/steps.ts'
import type { Dentry, Inode, Link } from './inode.ts'
import type { NamedDentry, View } from './view.ts'

/** A step absorbs this many: less than 1 ms. */
const changesPerStep = 1024

/** An inode, or undefined where it was removed. */
type Removable<T> = T | undefined

/**
 * What changed on top of a view. Reads see the changes; the view below is never touched. Throwing one away
 * undoes it; absorbing it into the one below keeps it.
 */
export class Changes implements View {
  readonly inodes: Map<Ino, Removable<Inode>> = new Map()
  // Made when they are needed: a mount makes one of these for each change, and most change no links.
  #children: Map<Ino, Map<Name, Removable<Dentry>>> | undefined
  #linkSets: Map<Ino, readonly Link[]> | undefined
  /** What `entries` has sorted, until it changes. */
  #sorted: Map<Ino, readonly NamedDentry[]> | undefined
  #below: View

  constructor(below: View) {
    this.#below = below
  }

  get children(): ReadonlyMap<Ino, ReadonlyMap<Name, Removable<Dentry>>> {
    return this.#children ?? noChildren
  }

  get linkSets(): ReadonlyMap<Ino, readonly Link[]> {
    return this.#linkSets ?? noLinks
  }

  inode(ino: Ino): Inode | undefined {
    const changed = this.inodes.get(ino)
    if (changed !== undefined || this.inodes.has(ino)) return changed
    return this.#below.inode(ino)
  }

  child(parent: Ino, name: Name): Dentry | undefined {
    const names = this.children.get(parent)
    if (names) {
      const changed = names.get(name)
      if (changed !== undefined || names.has(name)) return changed
    }
    return this.#below.child(parent, name)
  }

  links(ino: Ino): readonly Link[] {
    return this.linkSets.get(ino) ?? this.#below.links(ino)
  }

  blockFrom(ino: Ino, index: number): FoldedBlock | undefined {
    return this.#below.blockFrom(ino, index)
  }

  entries(parent: Ino, after: Name | undefined, limit: number): readonly NamedDentry[] {
    const names = this.children.get(parent)
    if (!names) return this.#below.entries(parent, after, limit)
    const added = this.#addedTo(parent, names)
    const listed: NamedDentry[] = []
    let at = after === undefined ? 0 : firstAfter(added, after)
    for (const entry of this.#unchangedBelow(parent, names, after, limit)) {
      while (at < added.length && added[at]!.name < entry.name) listed.push(added[at++]!)
      listed.push(entry)
    }
    return [...listed, ...added.slice(at, at + limit)].slice(0, limit)
  }

  /** The names that are there in the order of names. Sorted once: listing a large directory takes many pages. */
  #addedTo(parent: Ino, names: ReadonlyMap<Name, Removable<Dentry>>): readonly NamedDentry[] {
    this.#sorted ??= new Map()
    const known = this.#sorted.get(parent)
    if (known) return known
    const added: NamedDentry[] = []
    for (const [name, dentry] of names) if (dentry) added.push({ name, ...dentry })
    added.sort(byName)
    this.#sorted.set(parent, added)
    return added
  }

  setInode(ino: Ino, inode: Inode): void {
    this.inodes.set(ino, inode)
  }

  removeInode(ino: Ino): void {
    this.inodes.set(ino, undefined)
  }

  setChild(parent: Ino, name: Name, dentry: Dentry): void {
    this.#set(parent, this.#names(parent), name, dentry)
  }

  removeChild(parent: Ino, name: Name): void {
    this.#set(parent, this.#names(parent), name, undefined)
  }

  #set(
    parent: Ino,
    names: Map<Name, Removable<Dentry>>,
    name: Name,
    dentry: Removable<Dentry>,
  ): void {
    // What is removed from below was in no list of added names.
    if (this.#sorted?.has(parent) && (dentry || names.get(name))) this.#sorted.delete(parent)
    names.set(name, dentry)
  }

  setLinks(ino: Ino, links: readonly Link[]): void {
    this.#linkSets ??= new Map()
    this.#linkSets.set(ino, links)
  }

  /** Takes over what `upper`, made on top of this one, changed. */
  absorb(upper: Changes): void {
    runAtOnce(this.absorbInSteps(upper))
  }

  /**
   * The same, in steps. Inodes come before their names and go after them: no reader between two steps finds a name that
   * leads nowhere.
   */
  *absorbInSteps(upper: Changes): Steps<void> {
    let left = changesPerStep
    const isStep = (): boolean => --left % changesPerStep === 0
    for (const [ino, inode] of upper.inodes) {
      if (inode) this.inodes.set(ino, inode)
      if (isStep()) yield
    }
    for (const [ino, links] of upper.linkSets) {
      this.setLinks(ino, links)
      if (isStep()) yield
    }
    for (const [parent, names] of upper.children) {
      const own = this.#names(parent)
      for (const [name, dentry] of names) {
        this.#set(parent, own, name, dentry)
        if (isStep()) yield
      }
    }
    for (const [ino, inode] of upper.inodes) {
      if (!inode) this.inodes.set(ino, undefined)
      if (isStep()) yield
    }
  }

  /** Puts these changes on another view that says the same as the one below. */
  rebase(below: View): void {
    this.#below = below
  }

  get isEmpty(): boolean {
    return this.inodes.size === 0 && this.children.size === 0 && this.linkSets.size === 0
  }

  /** Whether it is soon absorbed. Who changes a name changes its inode or its directory, too. */
  get isSmall(): boolean {
    return this.inodes.size <= changesPerStep
  }

  /** Enough of the entries below that `limit` are left when the changed names are taken out. */
  *#unchangedBelow(
    parent: Ino,
    names: ReadonlyMap<Name, unknown>,
    after: Name | undefined,
    limit: number,
  ): Generator<NamedDentry> {
    for (let left = limit; left > 0;) {
      const page = this.#below.entries(parent, after, limit)
      for (const entry of page) {
        if (names.has(entry.name)) continue
        yield entry
        left--
      }
      if (page.length < limit) return
      after = page.at(-1)!.name
    }
  }

  #names(parent: Ino): Map<Name, Removable<Dentry>> {
    this.#children ??= new Map()
    let names = this.#children.get(parent)
    if (!names) this.#children.set(parent, (names = new Map()))
    return names
  }
}

const noChildren: ReadonlyMap<Ino, ReadonlyMap<Name, Removable<Dentry>>> = new Map()
const noLinks: ReadonlyMap<Ino, readonly Link[]> = new Map()

/** The index of the first entry with a name after that one. */
function firstAfter(entries: readonly NamedDentry[], after: Name): number {
  let [low, high] = [0, entries.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (entries[middle]!.name > after) high = middle
    else low = middle + 1
  }
  return low
}

/** Byte strings order as their bytes do. */
function byName(a: NamedDentry, b: NamedDentry): number {
  return a.name < b.name ? -1 : 1
}
