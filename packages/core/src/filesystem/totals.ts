import { rank } from '../tree/lookup.ts'
import type { Nodes } from '../tree/nodes.ts'
import { rangeStart } from './keys.ts'
import type { Snapshot } from '../ports/records.ts'
import { weighEntry } from './values.ts'

/** What statfs needs to know of a tree. */
export interface Totals {
  /** Files, directories and all else that has an inode. */
  readonly inodes: number
  /** Bytes of content, holes not counted, each file counted once. */
  readonly bytes: number
}

/** Costs one path through the tree: inner nodes keep the sums. Throws NodeMiss. */
export function totalsOf(nodes: Nodes, { root }: Snapshot): Totals {
  const inodes =
    rank(nodes, root, rangeStart('dentry', 0)) - rank(nodes, root, rangeStart('inode', 0))
  const top = nodes.get(root)
  let bytes = 0
  for (let i = 0; i < top.length; i++)
    bytes += top.level > 0 ? top.childAt(i).weight : weighEntry(top.keyAt(i), top.valueAt(i))
  return { inodes, bytes }
}
