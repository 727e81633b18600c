import type { Ino, Name } from '@cairn/protocol'
import type { BlockRef } from '../content/block.ts'
import { hasFurtherBlocks } from '../content/content.ts'
import type { Inode, Link } from '../filesystem/inode.ts'
import { pathOf } from '../filesystem/resolve.ts'
import { getInode } from '../filesystem/rules/directory.ts'
import { TreeView } from '../filesystem/tree-view.ts'
import type { Snapshot } from '../ports/records.ts'
import type { Nodes } from '../tree/nodes.ts'
import { sameBlock, sameInlineContent, type Version } from './version.ts'

/** Blocks numbered 1 and above. */
export type Blocks = ReadonlyMap<number, BlockRef>

/** A snapshot that takes part in a merge or a comparison. */
export class Side {
  /** Throws NodeMiss. */
  readonly view: TreeView
  readonly #nodes: Nodes

  constructor(nodes: Nodes, snapshot: Snapshot) {
    this.#nodes = nodes
    // Both are about names; a file without one belongs to the client that has it open.
    this.view = new TreeView(nodes, { ...snapshot, orphans: nodes.emptyRoot })
  }

  async blocks({ ino, inode }: Pick<Version, 'ino' | 'inode'>): Promise<Blocks> {
    if (!mayHaveBlocks(inode)) return noBlocks
    return this.#nodes.read(() => this.view.blocks(ino, 1))
  }

  getInode(ino: Ino): Promise<Inode> {
    return this.#nodes.read(() => getInode(this.view, ino))
  }

  parentOf(directory: Ino): Promise<Ino | undefined> {
    return this.#nodes.read(() => this.view.inode(directory)?.home?.parent)
  }

  async path({ parent, name }: Link): Promise<readonly Name[]> {
    const directory = await this.#nodes.read(() => pathOf(this.view, parent))
    return [...(directory ?? []), name]
  }
}

const noBlocks: Blocks = new Map()

/** Throws NodeMiss. Directories are numbered as the view numbers them; the root has no name. */
export function namesOf(view: TreeView, ino: Ino, inode: Inode): readonly Link[] {
  if (inode.home) return [inode.home]
  return inode.kind === 'directory' ? [] : view.links(ino)
}

/** Whether two files, symlinks … hold the same, wherever they are. */
export async function sameContent(
  aSide: Side,
  a: Pick<Version, 'ino' | 'inode'>,
  bSide: Side,
  b: Pick<Version, 'ino' | 'inode'>,
): Promise<boolean> {
  if (!sameInlineContent(a.inode, b.inode)) return false
  if (a.inode.content?.allocated !== b.inode.content?.allocated) return false
  if (!mayHaveBlocks(a.inode)) return true
  const [aBlocks, bBlocks] = await Promise.all([aSide.blocks(a), bSide.blocks(b)])
  if (aBlocks.size !== bBlocks.size) return false
  for (const [index, block] of aBlocks) if (!sameBlock(block, bBlocks.get(index))) return false
  return true
}

function mayHaveBlocks({ content }: Inode): boolean {
  return content !== undefined && hasFurtherBlocks(content)
}
