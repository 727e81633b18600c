import type { Ino } from '@cairn/protocol'
import { parseKey } from '../filesystem/keys.ts'
import type { Snapshot } from '../ports/records.ts'
import { diff } from '../tree/diff.ts'
import type { Nodes } from '../tree/nodes.ts'

/**
 * Inodes that differ between two snapshots in anything at all, down to ctime. Whatever happens to a name or to content
 * happens to the inode as well: its home, its number of links or its ctime moves.
 */
export async function changedInos(
  nodes: Nodes,
  before: Snapshot,
  after: Snapshot,
): Promise<ReadonlySet<Ino>> {
  const inos = new Set<Ino>()
  for await (const { key } of diff(nodes, before.root, after.root)) {
    const parsed = parseKey(key)
    if (parsed.type === 'inode') inos.add(parsed.ino)
  }
  return inos
}
