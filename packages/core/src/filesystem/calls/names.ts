import { FsError, type Ino, type Name } from '@cairn/protocol'
import {
  isMember,
  isRoot,
  may,
  requireAccess,
  requireCreate,
  requireDelete,
  searchable,
} from '../access.ts'
import { type Dentry, type Kind, modeBits } from '../inode.ts'
import type { CreateOp, LinkOp, RenameOp, RmdirOp, UnlinkOp } from '../op.ts'
import { getChild, getInode } from '../rules/directory.ts'
import { requireTarget } from '../rules/names.ts'
import { checkRename, type RenameNames, requireReplaceable } from '../rules/rename.ts'
import type { Call } from './context.ts'

export interface NewFile {
  readonly kind: Kind
  /** Permission bits as asked for; the caller has taken off its umask. */
  readonly mode: number
  readonly rdev?: number
  readonly target?: Uint8Array
}

export function lookup(call: Call, parent: Ino, name: Name): Dentry {
  searchable(call.view, parent, call.who)
  return getChild(call.view, parent, name)
}

export function create(call: Call, parent: Ino, name: Name, file: NewFile): CreateOp {
  // Before anything is looked up: that is where the kernel reads it.
  if (file.target) requireTarget(file.target)
  searchable(call.view, parent, call.who)
  if (call.view.child(parent, name)) throw new FsError('EEXIST')
  const directory = requireCreate(call.view, parent, call.who)
  if ((file.kind === 'character' || file.kind === 'block') && !isRoot(call.who))
    throw new FsError('EPERM')
  const inherits = (directory.mode & modeBits.setgid) !== 0
  const gid = inherits ? directory.gid : call.who.gid
  return {
    type: 'create',
    time: call.now,
    parent,
    name,
    ino: call.newIno(),
    kind: file.kind,
    mode: newMode(call, file, gid, inherits),
    uid: call.who.uid,
    gid,
    rdev: file.rdev ?? 0,
    target: file.target,
  }
}

function newMode(call: Call, file: NewFile, gid: number, inherits: boolean): number {
  if (file.kind === 'symlink') return 0o777
  // mkdir(2) takes no set-id bits; a directory gets set-group-id from its parent alone.
  if (file.kind === 'directory')
    return (file.mode & (0o777 | modeBits.sticky)) | (inherits ? modeBits.setgid : 0)
  const both = modeBits.setgid | modeBits.groupExecute
  const strips =
    inherits && (file.mode & both) === both && !isRoot(call.who) && !isMember(call.who, gid)
  return file.mode & (strips ? ~modeBits.setgid : ~0)
}

export function link(call: Call, ino: Ino, parent: Ino, name: Name): LinkOp {
  searchable(call.view, parent, call.who)
  if (call.view.child(parent, name)) throw new FsError('EEXIST')
  requireCreate(call.view, parent, call.who)
  return { type: 'link', time: call.now, ino, parent, name }
}

export function unlink(call: Call, parent: Ino, name: Name): UnlinkOp {
  requireDelete(call.view, parent, lookup(call, parent, name), call.who)
  return { type: 'unlink', time: call.now, parent, name }
}

export function rmdir(call: Call, parent: Ino, name: Name): RmdirOp {
  requireDelete(call.view, parent, lookup(call, parent, name), call.who)
  return { type: 'rmdir', time: call.now, parent, name }
}

export function rename(call: Call, names: RenameNames): RenameOp {
  const op: RenameOp = { type: 'rename', time: call.now, ...names }
  searchable(call.view, op.parent, call.who)
  searchable(call.view, op.newParent, call.who)
  const { source, target } = checkRename(call.view, op)
  if (target?.ino === source.ino) return op
  requireDelete(call.view, op.parent, source, call.who)
  if (target) requireDelete(call.view, op.newParent, target, call.who)
  else requireCreate(call.view, op.newParent, call.who)
  if (target && op.mode === 'replace') requireReplaceable(source, target)
  requireMove(call, op, source)
  if (target && op.mode === 'exchange') requireMove(call, op, target)
  return op
}

/** A directory that gets another parent has its `..` written. */
function requireMove(call: Call, op: RenameOp, { ino, kind }: Dentry): void {
  if (kind === 'directory' && op.parent !== op.newParent)
    requireAccess(getInode(call.view, ino), call.who, may.write)
}
