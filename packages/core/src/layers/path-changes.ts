import type { Ino, Name } from '@cairn/protocol'
import type { Kind, Link } from '../filesystem/inode.ts'
import { parseKey } from '../filesystem/keys.ts'
import type { Snapshot } from '../filesystem/tree-view.ts'
import { sameTime } from '../filesystem/values.ts'
import { diff } from '../tree/diff.ts'
import type { Nodes } from '../tree/nodes.ts'
import { Side } from './sides.ts'
import { hasLink, sameAttributes, sameInlineContent, type Version } from './version.ts'

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
  const list = new ChangeList(new Side(nodes, before), new Side(nodes, after))
  const { inos, editedBlocks } = await findTouched(nodes, before, after)
  for (const ino of inos) await list.compare(ino, editedBlocks.has(ino))
  return list.finish()
}

async function findTouched(
  nodes: Nodes,
  before: Snapshot,
  after: Snapshot,
): Promise<{ inos: ReadonlySet<Ino>; editedBlocks: ReadonlySet<Ino> }> {
  const inos = new Set<Ino>()
  const editedBlocks = new Set<Ino>()
  for await (const { key } of diff(nodes, before.root, after.root)) {
    const parsed = parseKey(key)
    if (parsed.type === 'dentry') continue
    inos.add(parsed.ino)
    if (parsed.type === 'block') editedBlocks.add(parsed.ino)
  }
  return { inos, editedBlocks }
}

class ChangeList {
  readonly #before: Paths
  readonly #after: Paths
  readonly #gone = new Map<string, PathChange>()
  readonly #come = new Map<string, PathChange>()

  constructor(before: Side, after: Side) {
    this.#before = new Paths(before)
    this.#after = new Paths(after)
  }

  async compare(ino: Ino, editedBlocks: boolean): Promise<void> {
    const was = await this.#before.side.version(ino)
    const is = await this.#after.side.version(ino)
    const removed = (was?.links ?? []).filter((link) => !hasLink(is?.links ?? [], link))
    const added = (is?.links ?? []).filter((link) => !hasLink(was?.links ?? [], link))
    const edit = was && is && editKind(was, is, editedBlocks)
    if (was && is && removed.length === 1 && added.length === 1)
      return this.#rename(is.inode.kind, removed[0]!, added[0]!, edit !== undefined)
    for (const link of removed) await this.#goes(was!.inode.kind, link)
    for (const link of added) await this.#comes('added', is!.inode.kind, link)
    const stays = is?.links.find((link) => !hasLink(added, link))
    if (edit && stays) await this.#comes(edit, is.inode.kind, stays)
    // The root has no link.
    else if (edit && is.links.length === 0)
      this.#put(this.#come, { kind: edit, path: [], fileKind: is.inode.kind })
  }

  /** What went from a place where something came was replaced. */
  finish(): readonly PathChange[] {
    for (const [place, change] of this.#come) {
      const gone = this.#gone.get(place)
      if (!gone) continue
      this.#gone.delete(place)
      if (change.kind !== 'added') continue
      const kind = gone.fileKind === change.fileKind ? 'modified' : 'type'
      this.#come.set(place, { ...change, kind })
    }
    return [...this.#come, ...this.#gone]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, change]) => change)
  }

  async #rename(fileKind: Kind, from: Link, to: Link, edited: boolean): Promise<void> {
    const [path, origin] = [await this.#after.of(to), await this.#before.of(from)]
    this.#put(this.#come, {
      kind: 'renamed',
      path,
      fileKind,
      from: origin,
      ...(edited ? { edited } : {}),
    })
  }

  async #goes(fileKind: Kind, link: Link): Promise<void> {
    this.#put(this.#gone, { kind: 'deleted', path: await this.#before.of(link), fileKind })
  }

  async #comes(kind: PathChangeKind, fileKind: Kind, link: Link): Promise<void> {
    this.#put(this.#come, { kind, path: await this.#after.of(link), fileKind })
  }

  #put(list: Map<string, PathChange>, change: PathChange): void {
    list.set(change.path.join('/'), change)
  }
}

/** A directory's size and times follow from what is in it. */
function editKind(
  was: Version,
  is: Version,
  editedBlocks: boolean,
): 'modified' | 'mode' | undefined {
  if (editedBlocks || !sameInlineContent(was.inode, is.inode)) return 'modified'
  if (!sameAttributes(was.inode, is.inode)) return 'mode'
  if (is.inode.kind === 'directory' || sameTime(was.inode.mtime, is.inode.mtime)) return undefined
  return 'mode'
}

/** Paths of links, each directory looked up once. */
class Paths {
  readonly side: Side
  readonly #directories = new Map<Ino, Promise<readonly Name[]>>()

  constructor(side: Side) {
    this.side = side
  }

  async of({ parent, name }: Link): Promise<readonly Name[]> {
    return [...(await this.#directory(parent)), name]
  }

  #directory(ino: Ino): Promise<readonly Name[]> {
    let path = this.#directories.get(ino)
    if (!path) this.#directories.set(ino, (path = this.#find(ino)))
    return path
  }

  async #find(ino: Ino): Promise<readonly Name[]> {
    const home = (await this.side.inode(ino))?.home
    return home ? this.of(home) : []
  }
}
