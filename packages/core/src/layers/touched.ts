import type { Ino } from '@cairn/protocol'
import type { Inode } from '../filesystem/inode.ts'
import { parseKey } from '../filesystem/keys.ts'
import type { Snapshot } from '../ports/records.ts'
import { decodeInode } from '../filesystem/values.ts'
import type { Nodes } from '../tree/nodes.ts'
import { threeWay, type ThreeWayChange } from '../tree/three-way.ts'
import type { Side } from './sides.ts'

export interface MergeInput {
  readonly base: Snapshot
  readonly layer: Snapshot
  readonly target: Snapshot
}

export interface ThreeSides {
  readonly base: Side
  readonly layer: Side
  readonly target: Side
}

export type SideName = 'layer' | 'target'

/** An inode with a key that some side changed, as each of them has it. */
export interface TouchedInode {
  readonly base: Inode | undefined
  readonly layer: Inode | undefined
  readonly target: Inode | undefined
  /** Whether a block numbered 1 or above differs from the base's. */
  readonly blocks: { layer: boolean; target: boolean }
}

/** Everything either side changed since the base, ascending by number. Costs the size of the changes. */
export async function findTouched(
  nodes: Nodes,
  input: MergeInput,
  base: Side,
): Promise<ReadonlyMap<Ino, TouchedInode>> {
  const touched = new Map<Ino, TouchedInode>()
  const changes = threeWay(nodes, input.base.root, input.layer.root, input.target.root)
  for await (const change of changes) {
    const key = parseKey(change.key)
    // Whatever happens to a name happens to its inode, too: its home or its links change.
    if (key.type === 'dentry') continue
    if (key.type === 'inode') touched.set(key.ino, decodeChange(change))
    else if (!touched.has(key.ino))
      // Inode keys come first: this one is the same everywhere, to the nanosecond.
      touched.set(key.ino, unchanged(await nodes.read(() => base.view.inode(key.ino)!)))
    if (key.type !== 'block') continue
    const { blocks } = touched.get(key.ino)!
    if (change.changedBy !== 'right') blocks.layer = true
    if (change.changedBy !== 'left') blocks.target = true
  }
  return touched
}

function decodeChange({ base, left, right, changedBy }: ThreeWayChange): TouchedInode {
  const was = base && decodeInode(base)
  return {
    base: was,
    layer: changedBy === 'right' ? was : left && decodeInode(left),
    target: changedBy === 'left' ? was : right && decodeInode(right),
    blocks: { layer: false, target: false },
  }
}

function unchanged(inode: Inode): TouchedInode {
  const blocks = { layer: false, target: false }
  return { base: inode, layer: inode, target: inode, blocks }
}
