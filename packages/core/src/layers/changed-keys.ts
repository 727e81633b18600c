import type { Ino } from '@cairn/protocol'
import type { Link } from '../filesystem/inode.ts'
import { parseKey } from '../filesystem/keys.ts'
import type { Snapshot } from '../ports/records.ts'
import { diff } from '../tree/diff.ts'
import type { Nodes } from '../tree/nodes.ts'

export interface ChangedKeys {
  /** Inodes that came, went, or have other attributes, links or bytes. */
  readonly inodes: ReadonlySet<Ino>
  /** Names that came, went, or lead elsewhere. */
  readonly names: readonly Link[]
}

/**
 * What a cache of one snapshot must forget to become a cache of the other: a client that has
 * neither tree cannot compare them. Undefined when there is more than `limit` of it.
 */
export async function findChangedKeys(
  nodes: Nodes,
  before: Snapshot,
  after: Snapshot,
  limit: number,
): Promise<ChangedKeys | undefined> {
  const inodes = new Set<Ino>()
  const names: Link[] = []
  for (const tree of ['root', 'orphans'] as const)
    for await (const change of diff(nodes, before[tree], after[tree])) {
      const key = parseKey(change.key)
      if (key.type === 'dentry') names.push({ parent: key.parent, name: key.name })
      else inodes.add(key.ino)
      if (inodes.size + names.length > limit) return undefined
    }
  return { inodes, names }
}
