import type { Hash, Ino } from '@cairn/protocol'
import { inodeKey, parseKey } from '../filesystem/keys.ts'
import { weighEntry } from '../filesystem/values.ts'
import { applyEdits, type Edit } from '../tree/apply.ts'
import { findValue } from '../tree/lookup.ts'
import type { Nodes } from '../tree/nodes.ts'
import { scan } from '../tree/scan.ts'

/**
 * The nameless inodes of a branch that is put on another root: those that have a name there are nameless no
 * more. Who has the others open keeps them, whatever the root.
 */
export async function orphansBeside(nodes: Nodes, root: Hash, orphans: Hash): Promise<Hash> {
  const named = new Map<Ino, boolean>()
  const edits: Edit[] = []
  for await (const { key } of scan(nodes, orphans)) {
    const parsed = parseKey(key)
    if (parsed.type !== 'inode' && parsed.type !== 'block') continue
    const { ino } = parsed
    if (!named.has(ino))
      named.set(ino, (await nodes.read(() => findValue(nodes, root, inodeKey(ino)))) !== undefined)
    if (named.get(ino)) edits.push({ key, value: undefined })
  }
  if (edits.length === 0) return orphans
  const applied = await applyEdits(nodes, orphans, edits, weighEntry)
  await nodes.store(applied.created)
  return applied.root
}
