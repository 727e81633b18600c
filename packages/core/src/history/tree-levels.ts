import type { Ino } from '@cairn/protocol'
import { requireLevelsOf } from '../filesystem/depth.ts'
import { parseKey } from '../filesystem/keys.ts'
import { TreeView } from '../filesystem/tree-view.ts'
import type { Snapshot } from '../ports/records.ts'
import { decodeDentry } from '../filesystem/values.ts'
import { diff } from '../tree/diff.ts'
import type { Nodes } from '../tree/nodes.ts'

/**
 * ENAMETOOLONG where a tree that takes the place of another one puts a directory too deep: a merge can put what one
 * side made below what the other side moved, and a rollback can bring back what is older than the limit.
 */
export async function requireTreeLevels(
  nodes: Nodes,
  before: Snapshot,
  after: Snapshot,
): Promise<void> {
  const directories: Ino[] = []
  for await (const change of diff(nodes, before.root, after.root)) {
    if (!change.after || parseKey(change.key).type !== 'dentry') continue
    const { ino, kind } = decodeDentry(change.after)
    if (kind === 'directory') directories.push(ino)
  }
  const views = [before, after].map((snapshot) => new TreeView(nodes, snapshot))
  await nodes.readSteps(() => requireLevelsOf(views[0]!, views[1]!, directories))
}
