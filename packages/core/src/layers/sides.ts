import type { Ino, Name } from '@cairn/protocol'
import type { BlockRef } from '../content/block.ts'
import type { Dentry, Inode, Link } from '../filesystem/inode.ts'
import { pathOf } from '../filesystem/resolve.ts'
import { type Snapshot, TreeView } from '../filesystem/tree-view.ts'
import type { NamedDentry } from '../filesystem/view.ts'
import type { Nodes } from '../tree/nodes.ts'
import { sameBlock, sameInlineContent, type Version } from './version.ts'

/** A snapshot read asynchronously: it loads what it misses. */
export class Side {
  readonly #nodes: Nodes
  readonly view: TreeView

  constructor(nodes: Nodes, snapshot: Snapshot) {
    this.#nodes = nodes
    // A merge is about names; what has none belongs to whoever has it open.
    this.view = new TreeView(nodes, { ...snapshot, orphans: nodes.emptyRoot })
  }

  inode(ino: Ino): Promise<Inode | undefined> {
    return this.#nodes.read(() => this.view.inode(ino))
  }

  child(link: Link): Promise<Dentry | undefined> {
    return this.#nodes.read(() => this.view.child(link.parent, link.name))
  }

  children(parent: Ino): Promise<readonly NamedDentry[]> {
    return this.#nodes.read(() => this.view.entries(parent, undefined, Infinity))
  }

  blocks(ino: Ino): Promise<ReadonlyMap<number, BlockRef>> {
    return this.#nodes.read(() => this.view.blocks(ino, 1))
  }

  path(ino: Ino): Promise<Name[] | undefined> {
    return this.#nodes.read(() => pathOf(this.view, ino))
  }

  async version(ino: Ino): Promise<Version | undefined> {
    const inode = await this.inode(ino)
    return inode && { ino, inode, links: await this.#links(ino, inode) }
  }

  #links(ino: Ino, inode: Inode): Promise<readonly Link[]> {
    if (inode.home) return Promise.resolve([inode.home])
    return this.#nodes.read(() => this.view.links(ino))
  }
}

/** Whether two files, symlinks … hold the same, wherever they are. Directories hold nothing of their own. */
export async function sameContent(
  aSide: Side,
  a: Version,
  bSide: Side,
  b: Version,
): Promise<boolean> {
  if (!sameInlineContent(a.inode, b.inode)) return false
  if (a.inode.content?.allocated !== b.inode.content?.allocated) return false
  if (a.inode.kind !== 'file' || !mayHaveBlocks(a.inode)) return true
  const [aBlocks, bBlocks] = await Promise.all([aSide.blocks(a.ino), bSide.blocks(b.ino)])
  if (aBlocks.size !== bBlocks.size) return false
  for (const [index, block] of aBlocks) if (!sameBlock(block, bBlocks.get(index))) return false
  return true
}

/** Whether content stands under block keys, too. */
export function mayHaveBlocks(inode: Inode): boolean {
  const { first, allocated } = inode.content ?? { first: undefined, allocated: 0 }
  const firstLength = !first ? 0 : first.type === 'inline' ? first.bytes.length : first.length
  return allocated > firstLength
}
