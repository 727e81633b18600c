import type { Changes } from './changes.ts'
import type { Op } from './op.ts'
import { applyRemovexattr, applySetattr, applySetxattr } from './rules/attributes.ts'
import { applyAppend, applyCopy, applyFallocate, applyWrite } from './rules/data.ts'
import { applyCreate, applyLink, applyReap, applyRmdir, applyUnlink } from './rules/names.ts'
import { applyRename } from './rules/rename.ts'

/**
 * The file-system rules: what an operation does to the tree, or the errno it gives. Deterministic; the server
 * runs it on head, a mount on its image. When it throws, throw `changes` away: they may be half done.
 */
export function applyOp(changes: Changes, op: Op): void {
  switch (op.type) {
    case 'create':
      return applyCreate(changes, op)
    case 'link':
      return applyLink(changes, op)
    case 'unlink':
      return applyUnlink(changes, op)
    case 'rmdir':
      return applyRmdir(changes, op)
    case 'rename':
      return applyRename(changes, op)
    case 'setattr':
      return applySetattr(changes, op)
    case 'write':
      return applyWrite(changes, op)
    case 'append':
      return applyAppend(changes, op)
    case 'fallocate':
      return applyFallocate(changes, op)
    case 'copy':
      return applyCopy(changes, op)
    case 'setxattr':
      return applySetxattr(changes, op)
    case 'removexattr':
      return applyRemovexattr(changes, op)
    case 'reap':
      return applyReap(changes, op)
  }
}
