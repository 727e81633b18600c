import { type Ino, rootIno } from '@cairn/protocol'
import type { Dentry } from './inode.ts'
import type { Op } from './op.ts'
import type { View } from './view.ts'

/**
 * The directories that an operation concerns: those whose names it changes, and those that have the files it reads or
 * changes. A directory's own attributes belong to the directory itself. A directory that gets another parent concerns the
 * root, too: of two such moves each may be allowed, and both together put each directory below the other. Two operations without a common directory can be
 * done in any order, which is what lets clients decide about different directories on their own.
 */
export function directoriesOf(view: View, op: Op): readonly Ino[] {
  switch (op.type) {
    case 'create':
      return [op.parent]
    case 'link':
      return [op.parent, ...homesOf(view, op.ino)]
    case 'unlink':
    case 'rmdir':
      return [op.parent, ...of(view, view.child(op.parent, op.name))]
    case 'rename':
      return directoriesOfRename(view, op)
    case 'copy':
      return [...homesOf(view, op.from), ...homesOf(view, op.ino)]
    case 'setattr':
    case 'write':
    case 'append':
    case 'fallocate':
    case 'setxattr':
    case 'removexattr':
      return homesOf(view, op.ino)
    case 'reap':
      return []
  }
}

function directoriesOfRename(view: View, op: Extract<Op, { type: 'rename' }>): readonly Ino[] {
  const [from, to] = [view.child(op.parent, op.name), view.child(op.newParent, op.newName)]
  const directories = [op.parent, op.newParent, ...of(view, from), ...of(view, to)]
  const isMove = op.parent !== op.newParent
  const movesDirectory = from?.kind === 'directory' || to?.kind === 'directory'
  return isMove && movesDirectory ? [...directories, rootIno] : directories
}

/** The directories that have the inode: itself if it is one, else where its names are. A file without a name has none. */
export function homesOf(view: View, ino: Ino): readonly Ino[] {
  const inode = view.inode(ino)
  if (!inode) return []
  if (inode.kind === 'directory') return [ino]
  if (inode.home) return [inode.home.parent]
  return view.links(ino).map(({ parent }) => parent)
}

function of(view: View, dentry: Dentry | undefined): readonly Ino[] {
  if (!dentry) return []
  return dentry.kind === 'directory' ? [dentry.ino] : homesOf(view, dentry.ino)
}
