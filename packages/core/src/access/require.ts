import {
  type AccessOperation,
  accessOperations,
  allows,
  type ByteString,
  CairnError,
  FsError,
  fromByteString,
  type Grant,
  type Ino,
  isVisible,
  isWay,
  isWithin,
} from '@cairn/protocol'
import type { Link } from '../filesystem/inode.ts'
import type { Op } from '../filesystem/op.ts'
import type { View } from '../filesystem/view.ts'
import { parentPath, pathsOf, placeOf } from './paths.ts'

/** Whether whoever asks knew the inode when it lost its last name. */
export type IsHeld = (ino: Ino) => boolean

/**
 * Refuses what a grant does not allow, by the paths that things have at this moment: `forbidden` where they can be
 * seen, and as if nothing were there where they cannot. Of a file with several names one that allows it is enough.
 */
export function requireAllowed(grant: Grant, operation: AccessOperation, path: ByteString): void {
  if (!allows(grant, operation, path)) throw refusal(grant, operation, path, path)
}

/**
 * The same for an inode, wherever it is now. One without a name is nobody's file any more: whoever writes may write to
 * it, and whoever knew it before may read it.
 */
export function requireOnInode(
  view: View,
  grant: Grant,
  operation: AccessOperation,
  ino: Ino,
  isHeld?: IsHeld,
): void {
  const paths = pathsOf(view, ino)
  if (paths.some((path) => allows(grant, operation, path))) return
  if (view.inode(ino)?.nlink === 0 && (operation === 'write' || isHeld?.(ino))) return
  const seen = paths.find((path) => isVisible(grant, path))
  if (seen === undefined) throw new FsError('ENOENT')
  throw refusal(grant, operation, seen, seen)
}

/** Whether a file may be written at a place that `parent` and `name` make, whether or not it is there. */
export function requireWritable(view: View, grant: Grant, link: Link): void {
  const dentry = view.child(link.parent, link.name)
  if (dentry) requireOnInode(view, grant, 'write', dentry.ino)
  else requireNew(view, grant, link)
}

/** Before an operation is applied to `view`. */
export function requireOperation(view: View, grant: Grant, op: Op, isHeld?: IsHeld): void {
  const onInode = (operation: AccessOperation, ino: Ino): void =>
    requireOnInode(view, grant, operation, ino, isHeld)
  switch (op.type) {
    case 'create':
      return requireCreate(view, grant, op)
    case 'link':
      // Also the right to write: through the new name it would be had anyway.
      onInode('read', op.ino)
      onInode('write', op.ino)
      return requireNew(view, grant, op)
    case 'unlink':
    case 'rmdir':
      return requireAllowed(grant, 'delete', existing(view, op))
    case 'rename':
      return requireRename(view, grant, op)
    case 'copy':
      onInode('read', op.from)
      return onInode('write', op.ino)
    // The rules see to it that it has no name.
    case 'reap':
      return
    case 'setattr':
    case 'write':
    case 'append':
    case 'fallocate':
    case 'setxattr':
    case 'removexattr':
      return onInode('write', op.ino)
  }
}

function requireCreate(view: View, grant: Grant, op: Extract<Op, { type: 'create' }>): void {
  const place = placeOf(view, op)
  // The way to where one may write may be made.
  const leads = (prefix: ByteString): boolean =>
    place !== undefined && isWithin(prefix, place) && allows(grant, 'write', prefix)
  if (op.kind === 'directory' && grant.rules.some(({ prefix }) => leads(prefix))) return
  requireNew(view, grant, op)
}

function requireNew(view: View, grant: Grant, named: Link): void {
  const place = placeOf(view, named)
  if (place === undefined) throw new FsError('ENOENT')
  if (!allows(grant, 'write', place)) throw refusal(grant, 'write', place, parentPath(place))
}

/** Moving is taking away here and writing there; what could not be read here must not become readable there. */
function requireRename(view: View, grant: Grant, op: Extract<Op, { type: 'rename' }>): void {
  const target = { parent: op.newParent, name: op.newName }
  requireMovable(view, grant, op)
  requireNew(view, grant, target)
  if (op.mode !== 'exchange') return
  requireMovable(view, grant, target)
  requireNew(view, grant, op)
}

function requireMovable(view: View, grant: Grant, named: Link): void {
  const path = existing(view, named)
  requireAllowed(grant, 'delete', path)
  requireAllowed(grant, 'read', path)
  const dentry = view.child(named.parent, named.name)
  const inode = dentry && view.inode(dentry.ino)
  if (!inode) return
  // Other names of it, or of what is in it, would be written through the new one.
  if (inode.kind === 'directory' || inode.nlink > 1) requireAllowed(grant, 'write', path)
  // What is denied is denied by its path: with its directory it would come to one that is not.
  if (inode.kind === 'directory' && grant.deny.some((denied) => isWithin(denied, path)))
    throw refusal(grant, 'delete', path, path)
}

function existing(view: View, named: Link): ByteString {
  const place = placeOf(view, named)
  if (place === undefined) throw new FsError('ENOENT')
  return place
}

/** `seen` decides whether it may be told that there is something. */
function refusal(
  grant: Grant,
  operation: AccessOperation,
  path: ByteString,
  seen: ByteString,
): Error {
  if (!isVisible(grant, seen)) return new FsError('ENOENT')
  const shown = new TextDecoder().decode(fromByteString(path))
  const allowed = accessOperations.filter((each) => allows(grant, each, path))
  const may = isWay(grant, path) && allowed.length === 0 ? 'nothing but pass' : allowed.join(', ')
  return new CairnError('forbidden', {
    message: `cannot ${operation} ${shown}: the token allows ${may === '' ? 'nothing' : may} there`,
    subject: shown,
  })
}
