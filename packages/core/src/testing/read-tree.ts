import { type Ino, rootIno } from '@cairn/protocol'
import { readFile } from '../filesystem/read-file.ts'
import type { Inode } from '../filesystem/inode.ts'
import { TreeView } from '../filesystem/tree-view.ts'
import type { Snapshot } from '../ports/records.ts'
import type { Stores } from '../history/stores.ts'

export interface NodeEntry {
  readonly ino: Ino
  readonly inode: Inode
  /** Set for a file. */
  readonly bytes: Uint8Array | undefined
}

/** All that a snapshot holds, by path in byte order; the root is the empty path. For small trees. */
export async function readTree(
  { nodes, blobs }: Pick<Stores, 'nodes' | 'blobs'>,
  snapshot: Snapshot,
): Promise<ReadonlyMap<string, NodeEntry>> {
  const view = new TreeView(nodes, snapshot)
  const entries = new Map<string, NodeEntry>()
  const read = async (path: string, ino: Ino): Promise<void> => {
    const inode = await nodes.read(() => view.inode(ino))
    if (!inode) throw new Error(`no inode ${ino} at '${path}'`)
    const bytes = inode.kind === 'file' ? await readFile(nodes, blobs, view, ino, inode) : undefined
    entries.set(path, { ino, inode, bytes })
    for (const child of await nodes.read(() => view.entries(ino, undefined, Infinity)))
      await read(path === '' ? child.name : `${path}/${child.name}`, child.ino)
  }
  await read('', rootIno)
  return entries
}
