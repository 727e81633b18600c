import { rootIno } from '@cairn/protocol'
import type { Inode } from '../filesystem/inode.ts'
import { inodeKey } from '../filesystem/keys.ts'
import type { Snapshot } from '../ports/records.ts'
import { encodeInode, weighEntry } from '../filesystem/values.ts'
import { applyEdits } from '../tree/apply.ts'
import type { Nodes } from '../tree/nodes.ts'

const epoch = { sec: 0, nsec: 0 }

const emptyDirectory: Inode = {
  kind: 'directory',
  mode: 0o755,
  uid: 0,
  gid: 0,
  size: 0,
  nlink: 2,
  rdev: 0,
  atime: epoch,
  mtime: epoch,
  ctime: epoch,
  home: undefined,
  target: undefined,
  xattrs: undefined,
  content: undefined,
}

/** A tree with an empty root directory. Every new workspace starts with the same one. */
export async function storeNewTree(nodes: Nodes): Promise<Snapshot> {
  const edit = { key: inodeKey(rootIno), value: encodeInode(emptyDirectory) }
  const { root, created } = await applyEdits(nodes, nodes.emptyRoot, [edit], weighEntry)
  await nodes.store(created)
  return { root, orphans: nodes.emptyRoot }
}
