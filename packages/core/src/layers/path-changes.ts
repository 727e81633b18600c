import type { Ino, Name } from '@cairn/protocol'
import type { Inode, Kind, Link } from '../filesystem/inode.ts'
import { parseKey } from '../filesystem/keys.ts'
import type { Snapshot } from '../ports/records.ts'
import { decodeInode, sameTime } from '../filesystem/values.ts'
import { diff } from '../tree/diff.ts'
import { mapPaced } from '../tree/map-paced.ts'
import type { Nodes } from '../tree/nodes.ts'
import { sortInSteps } from '../tree/sort-in-steps.ts'
import { namesOf, sameContent, Side } from './sides.ts'
import { sameAttributes, sameInlineContent, withoutLinks } from './version.ts'

export const pathChangeKinds = ['added', 'modified', 'deleted', 'renamed', 'mode', 'type'] as const
export type PathChangeKind = (typeof pathChangeKinds)[number]

export interface PathChange {
  /** `mode` stands for permissions, owners, attributes and mtime; `type` for a file become a directory … */
  readonly kind: PathChangeKind
  readonly path: readonly Name[]
  /** What is there now; what was there, if it was deleted. */
  readonly fileKind: Kind
  /** Where it was before it was renamed. */
  readonly from?: readonly Name[]
  /** Renamed, and its content or attributes changed as well. */
  readonly edited?: boolean
}

/** What differs between two snapshots, by path. What lies below a renamed directory did not change. */
export async function diffPaths(
  nodes: Nodes,
  before: Snapshot,
  after: Snapshot,
): Promise<readonly PathChange[]> {
  const side = new Side(nodes, before)
  const list = new ChangeList(side, new Side(nodes, after))
  const differing = await findDiffering(nodes, before, after, side)
  await nodes.readEach(differing, ([ino, pair]) => list.compare(ino, pair))
  return list.finish(nodes)
}

/** An inode with a key that differs, before and after. */
interface Pair {
  readonly was: Inode | undefined
  readonly is: Inode | undefined
  /** Whether a block numbered 1 or above differs. */
  blocks: boolean
}

async function findDiffering(
  nodes: Nodes,
  before: Snapshot,
  after: Snapshot,
  side: Side,
): Promise<ReadonlyMap<Ino, Pair>> {
  const differing = new Map<Ino, Pair>()
  for await (const change of diff(nodes, before.root, after.root)) {
    const key = parseKey(change.key)
    // Whatever happens to a name happens to its inode, too: its home or its links change.
    if (key.type === 'dentry') continue
    if (key.type === 'inode') {
      const [was, is] = [change.before, change.after].map((value) => value && decodeInode(value))
      differing.set(key.ino, { was, is, blocks: false })
      continue
    }
    // Inode keys come first: this one did not change, to the nanosecond.
    const inode = await nodes.read(() => side.view.inode(key.ino))
    const pair = differing.get(key.ino) ?? { was: inode, is: inode, blocks: false }
    differing.set(key.ino, { ...pair, blocks: pair.blocks || key.type === 'block' })
  }
  return differing
}

/** A name that went or came, and what had it. */
interface NamedInode {
  readonly ino: Ino
  readonly inode: Inode
  readonly link: Link
  readonly path: readonly Name[]
}

class ChangeList {
  readonly #before: Paths
  readonly #after: Paths
  readonly #changes: PathChange[] = []
  readonly #gone: NamedInode[] = []
  readonly #come: NamedInode[] = []
  /** In another directory than before, at the same path. */
  readonly #back: { readonly to: NamedInode; readonly edit: EditKind | undefined }[] = []

  constructor(before: Side, after: Side) {
    this.#before = new Paths(before)
    this.#after = new Paths(after)
  }

  /** Throws NodeMiss, and then has changed nothing. */
  compare(ino: Ino, { was, is, blocks }: Pair): void {
    const before = was ? namesOf(this.#before.side.view, ino, was) : []
    const after = is ? namesOf(this.#after.side.view, ino, is) : []
    const gone = withoutLinks(before, after).map((link) => this.#before.name(ino, was!, link))
    const come = withoutLinks(after, before).map((link) => this.#after.name(ino, is!, link))
    const edit = was && is && editKind(was, is, blocks || !sameInlineContent(was, is))
    const stays = after.filter((link) => come.every((name) => name.link !== link))
    const paths = stays.map((link) => this.#after.of(link))
    // The root has no name.
    if (is && after.length === 0) paths.push([])
    if (edit) for (const path of paths) this.#changes.push({ kind: edit, path, fileKind: is.kind })
    if (was && is && gone.length === 1 && come.length === 1) this.#rename(gone[0]!, come[0]!, edit)
    else {
      this.#gone.push(...gone)
      this.#come.push(...come)
    }
  }

  /** What went from a place where something came was replaced. */
  async finish(nodes: Nodes): Promise<readonly PathChange[]> {
    const gone = new GoneNames()
    await nodes.readEach(this.#gone, (name) => gone.add(name))
    for (const name of this.#come) {
      if (nodes.pacer.isDue()) await nodes.pacer.rest()
      const replaced = gone.take(name)
      const kind = replaced ? await this.#replacement(replaced, name) : 'added'
      if (kind) this.#changes.push({ kind, path: name.path, fileKind: name.inode.kind })
    }
    await this.#listBack(nodes)
    // A rename over something says by itself that the other is gone.
    await nodes.readEach(this.#changes, ({ kind, path }) => {
      if (kind === 'renamed') gone.takeAt(path)
    })
    await nodes.readEach(gone.left, ({ path, inode }) =>
      this.#changes.push({ kind: 'deleted', path, fileKind: inode.kind }),
    )
    const byPath = await mapPaced(nodes.pacer, this.#changes, (change) => ({
      change,
      path: change.path.join('/'),
    }))
    const sorted = await nodes.run(sortInSteps(byPath, byPathOrder))
    return sorted.map(({ change }) => change)
  }

  #rename(from: NamedInode, to: NamedInode, edit: EditKind | undefined): void {
    if (from.path.join('/') === to.path.join('/')) this.#back.push({ to, edit })
    else this.#listRename(from.path, to, edit)
  }

  #listRename(from: readonly Name[], to: NamedInode, edit: EditKind | undefined): void {
    const { path, inode } = to
    const edited = edit ? { edited: true } : {}
    this.#changes.push({ kind: 'renamed', path, fileKind: inode.kind, from, ...edited })
  }

  /**
   * What is at its old path, in a directory that was made anew there, did not move for the reader of a list. It did where
   * the directory came from elsewhere: what is not listed below such a directory came with it.
   */
  async #listBack(nodes: Nodes): Promise<void> {
    if (this.#back.length === 0) return
    const moved = new Set<string>()
    await nodes.readEach(this.#changes, ({ kind, path }) => {
      if (kind !== 'deleted' && kind !== 'modified' && kind !== 'mode') moved.add(path.join('/'))
    })
    await nodes.readEach(this.#back, ({ to, edit }) => {
      const { path, inode } = to
      const isBelow = path.some(
        (_, depth) => depth > 0 && moved.has(path.slice(0, depth).join('/')),
      )
      if (isBelow) this.#listRename(path, to, edit)
      else if (edit) this.#changes.push({ kind: edit, path, fileKind: inode.kind })
    })
  }

  async #replacement(was: NamedInode, is: NamedInode): Promise<EditKind | 'type' | undefined> {
    if (was.inode.kind !== is.inode.kind) return 'type'
    const same = await sameContent(this.#before.side, was, this.#after.side, is)
    return editKind(was.inode, is.inode, !same)
  }
}

type EditKind = 'modified' | 'mode'

/** A directory's size and times follow from what is in it. */
function editKind(was: Inode, is: Inode, contentDiffers: boolean): EditKind | undefined {
  if (contentDiffers) return 'modified'
  if (!sameAttributes(was, is)) return 'mode'
  return is.kind === 'directory' || sameTime(was.mtime, is.mtime) ? undefined : 'mode'
}

/** Names that went, to be found by those that came: in the same directory, or else at the same path. */
class GoneNames {
  readonly #byLink = new Map<string, NamedInode>()
  readonly #byPath = new Map<string, NamedInode>()

  add(name: NamedInode): void {
    this.#byLink.set(placeOf(name.link), name)
    this.#byPath.set(name.path.join('/'), name)
  }

  get left(): Iterable<NamedInode> {
    return this.#byPath.values()
  }

  take({ link, path }: NamedInode): NamedInode | undefined {
    const name = this.#byLink.get(placeOf(link)) ?? this.#byPath.get(path.join('/'))
    if (name) this.#remove(name)
    return name
  }

  takeAt(path: readonly Name[]): void {
    const name = this.#byPath.get(path.join('/'))
    if (name) this.#remove(name)
  }

  #remove({ link, path }: NamedInode): void {
    this.#byLink.delete(placeOf(link))
    this.#byPath.delete(path.join('/'))
  }
}

function placeOf({ parent, name }: Link): string {
  return `${parent}/${name}`
}

/** Paths of links, each directory looked up once. Throws NodeMiss. */
class Paths {
  readonly side: Side
  readonly #directories = new Map<Ino, readonly Name[]>()

  constructor(side: Side) {
    this.side = side
  }

  of({ parent, name }: Link): readonly Name[] {
    return [...this.#directory(parent), name]
  }

  name(ino: Ino, inode: Inode, link: Link): NamedInode {
    return { ino, inode, link, path: this.of(link) }
  }

  /** A loop, because a tree may be deeper than the stack of calls. */
  #directory(ino: Ino): readonly Name[] {
    const names: Name[] = []
    let [at, known] = [ino, this.#directories.get(ino)]
    while (!known) {
      const home = this.side.view.inode(at)?.home
      if (!home) break
      names.push(home.name)
      at = home.parent
      known = this.#directories.get(at)
    }
    const path = [...(known ?? []), ...names.reverse()]
    this.#directories.set(ino, path)
    return path
  }
}

function byPathOrder(a: { readonly path: string }, b: { readonly path: string }): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0
}
