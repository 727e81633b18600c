import { compareBytes, type Hash } from '@cairn/protocol'
import { TreeCursor } from './cursor.ts'
import type { NodeEntry } from './encode.ts'
import type { Nodes } from './nodes.ts'

/** Entries with `from` ≤ key < `to`, ascending, loading nodes as they come. */
export async function* scan(
  nodes: Nodes,
  root: Hash,
  from: Uint8Array = new Uint8Array(),
  to?: Uint8Array,
): AsyncGenerator<NodeEntry> {
  const cursor = await TreeCursor.open(nodes, root)
  await cursor.seek(from)
  while (!cursor.done) {
    if (cursor.level > 0) {
      await cursor.enter()
      continue
    }
    const key = cursor.key
    if (to && compareBytes(key, to) >= 0) return
    yield { key, value: cursor.value }
    cursor.next()
  }
}
