import { type ByteString, FsError, type Ino } from '@cairn/protocol'
import {
  type Credentials,
  isMember,
  isRoot,
  may,
  requireAccess,
  requireOwner,
  privilegeDropOf,
} from '../access.ts'
import { type Inode, modeBits } from '../inode.ts'
import type { Time } from '../../ports/records.ts'
import type { RemovexattrOp, SetattrOp, SetxattrOp, XattrMode } from '../op.ts'
import { requireXattrName } from '../rules/attributes.ts'
import { withoutPrivileges } from '../rules/data.ts'
import { getInode } from '../rules/directory.ts'
import type { Call } from './context.ts'

export function chmod(call: Call, ino: Ino, mode: number): SetattrOp {
  const inode = getInode(call.view, ino)
  requireOwner(inode, call.who)
  const keepsGroup = isRoot(call.who) || isMember(call.who, inode.gid)
  return setattr(call, ino, { mode: mode & (keepsGroup ? modeBits.all : ~modeBits.setgid) })
}

/** Undefined leaves an owner as it is. */
export function chown(
  call: Call,
  ino: Ino,
  uid: number | undefined,
  gid: number | undefined,
): SetattrOp {
  const inode = getInode(call.view, ino)
  if (!isRoot(call.who)) requireChown(inode, call.who, uid, gid)
  const owners = { ...(uid === undefined ? {} : { uid }), ...(gid === undefined ? {} : { gid }) }
  const mode = modeAfterChown(inode, call.who)
  if (mode === inode.mode) return setattr(call, ino, owners)
  // A caller that does not own the file may "change" nothing to nothing, but cannot clear set-id
  // bits that way.
  requireOwner(inode, call.who)
  return setattr(call, ino, { ...owners, mode })
}

/** Even the superuser's chown takes set-id bits off: the new owner did not ask for them. */
function modeAfterChown(inode: Inode, who: Credentials): number {
  if (inode.kind === 'directory') return inode.mode
  return withoutPrivileges(inode.mode, privilegeDropOf(who, inode) || 'member')
}

function requireChown(
  inode: Inode,
  who: Credentials,
  uid: number | undefined,
  gid: number | undefined,
): void {
  const owns = who.uid === inode.uid
  if (uid !== undefined && !(owns && uid === inode.uid)) throw new FsError('EPERM')
  if (gid !== undefined && !(owns && (gid === inode.gid || isMember(who, gid))))
    throw new FsError('EPERM')
}

export type TimeChange = Time | 'now' | 'keep'

export function utimens(
  call: Call,
  ino: Ino,
  atime: TimeChange,
  mtime: TimeChange,
): SetattrOp | undefined {
  if (atime === 'keep' && mtime === 'keep') return undefined
  const inode = getInode(call.view, ino)
  const bothNow = atime === 'now' && mtime === 'now'
  if (!bothNow) requireOwner(inode, call.who)
  else if (call.who.uid !== inode.uid) requireAccess(inode, call.who, may.write)
  return setattr(call, ino, {
    ...(atime === 'keep' ? {} : { atime: atime === 'now' ? call.now : atime }),
    ...(mtime === 'keep' ? {} : { mtime: mtime === 'now' ? call.now : mtime }),
  })
}

function setattr(
  call: Call,
  ino: Ino,
  change: Omit<SetattrOp, 'type' | 'time' | 'ino'>,
): SetattrOp {
  return { type: 'setattr', time: call.now, ino, ...change }
}

export function getxattr(call: Call, ino: Ino, name: ByteString): Uint8Array {
  const inode = getInode(call.view, ino)
  requireNamespace(inode, call.who, name, may.read)
  const value = inode.xattrs?.get(name)
  if (!value) throw new FsError('ENODATA')
  return value
}

/** The superuser's attributes are not for others to see. */
export function listxattr(call: Call, ino: Ino): ByteString[] {
  const names = [...(getInode(call.view, ino).xattrs?.keys() ?? [])].sort()
  return isRoot(call.who) ? names : names.filter((name) => !name.startsWith('trusted.'))
}

export function setxattr(
  call: Call,
  ino: Ino,
  name: ByteString,
  value: Uint8Array,
  mode: XattrMode,
): SetxattrOp {
  requireNamespace(getInode(call.view, ino), call.who, name, may.write)
  return { type: 'setxattr', time: call.now, ino, name, value, mode }
}

export function removexattr(call: Call, ino: Ino, name: ByteString): RemovexattrOp {
  requireNamespace(getInode(call.view, ino), call.who, name, may.write)
  return { type: 'removexattr', time: call.now, ino, name }
}

/** First who may, then whether there is such a namespace: the order in which Linux asks. */
function requireNamespace(inode: Inode, who: Credentials, name: ByteString, wanted: number): void {
  requireXattrName(name)
  const namespace = namespaces.find((prefix) => name.startsWith(prefix))
  const writes = wanted === may.write
  if (namespace === 'user.') requireUserNamespace(inode, who, wanted)
  else if (namespace === undefined) requireAccess(inode, who, wanted)
  else if (namespace === 'trusted.' && !isRoot(who)) throw new FsError(writes ? 'EPERM' : 'ENODATA')
  else if (writes && !isRoot(who)) throw new FsError('EPERM')
  if (namespace === undefined) throw new FsError('EOPNOTSUPP')
  if (name === namespace) throw new FsError('EINVAL')
}

const namespaces = ['user.', 'trusted.', 'security.'] as const

/** `user.` is for files and directories: on a symlink or device the bits do not say who may. */
function requireUserNamespace(inode: Inode, who: Credentials, wanted: number): void {
  const writes = wanted === may.write
  if (inode.kind !== 'file' && inode.kind !== 'directory')
    throw new FsError(writes ? 'EPERM' : 'ENODATA')
  const sticky = inode.kind === 'directory' && (inode.mode & modeBits.sticky) !== 0
  if (sticky && writes) requireOwner(inode, who)
  requireAccess(inode, who, wanted)
}
