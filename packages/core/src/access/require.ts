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

/** Whether the caller knew the inode when it lost its last name. */
export type IsHeld = (ino: Ino) => boolean

/** Whether the caller created the inode, and it replaced no file of another client. */
export type IsOwn = (ino: Ino) => boolean

/** A directory with more in it takes the right to delete: it is not searched for what others created in there. */
const ownEntriesMax = 1000

/**
 * Refuses what a grant does not allow, by the paths that things have at this moment: `forbidden` where they can be
 * seen, and as if nothing were there where they cannot. Of a file with several names one that allows it is enough.
 */
export function requireAllowed(grant: Grant, operation: AccessOperation, path: ByteString): void {
  if (!allows(grant, operation, path)) throw refusal(grant, operation, path, path)
}

/** The same for an inode, wherever it is now. An inode without a name is visible to callers that saw it with a name. */
export function requireOnInode(
  view: View,
  grant: Grant,
  operation: AccessOperation,
  ino: Ino,
  isHeld?: IsHeld,
): void {
  const paths = pathsOf(view, ino)
  if (paths.some((path) => allows(grant, operation, path))) return
  if (view.inode(ino)?.nlink === 0 && isHeld?.(ino)) return
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
export function requireOperation(
  view: View,
  grant: Grant,
  op: Op,
  { isHeld, isOwn }: { readonly isHeld?: IsHeld; readonly isOwn?: IsOwn } = {},
): void {
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
      return requireRemovable(view, grant, op, isOwn)
    case 'rename':
      return requireRename(view, grant, op, isOwn)
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
function requireRename(
  view: View,
  grant: Grant,
  op: Extract<Op, { type: 'rename' }>,
  isOwn: IsOwn | undefined,
): void {
  const target = { parent: op.newParent, name: op.newName }
  requireMovable(view, grant, op, isOwn)
  requireNew(view, grant, target)
  if (op.mode !== 'exchange') return
  requireMovable(view, grant, target, isOwn)
  requireNew(view, grant, op)
}

/** Removing another client's file needs the right to delete. For the caller's own files the right to write is enough. */
function requireRemovable(view: View, grant: Grant, named: Link, isOwn: IsOwn | undefined): void {
  const path = existing(view, named)
  if (allows(grant, 'delete', path)) return
  const dentry = view.child(named.parent, named.name)
  const isFree = dentry && isOwn?.(dentry.ino) && allows(grant, 'write', path)
  if (!isFree || !areAllOwn(view, dentry.ino, isOwn!))
    throw refusal(grant, 'delete', path, path, ', and what others created takes delete')
}

/** With a directory goes what is in it. */
function areAllOwn(view: View, ino: Ino, isOwn: IsOwn): boolean {
  const directories = view.inode(ino)?.kind === 'directory' ? [ino] : []
  let left = ownEntriesMax
  for (const directory of directories) {
    const entries = view.entries(directory, undefined, left + 1)
    left -= entries.length
    if (left < 0 || !entries.every((entry) => isOwn(entry.ino))) return false
    for (const { ino: below, kind } of entries) if (kind === 'directory') directories.push(below)
  }
  return true
}

/**
 * The files of other clients that an allowed rename replaces without the right to delete. The name stays, so that is allowed;
 * but from then on the file that came there must count as theirs. Gives the inode that came.
 */
export function inoReplacing(view: View, grant: Grant, op: Op, isOwn: IsOwn): Ino | undefined {
  if (op.type !== 'rename' || op.mode === 'exchange') return undefined
  const place = placeOf(view, { parent: op.newParent, name: op.newName })
  const [moved, replaced] = [view.child(op.parent, op.name), view.child(op.newParent, op.newName)]
  if (!moved || !replaced || moved.ino === replaced.ino || isOwn(replaced.ino)) return undefined
  return place !== undefined && !allows(grant, 'delete', place) ? moved.ino : undefined
}

function requireMovable(view: View, grant: Grant, named: Link, isOwn: IsOwn | undefined): void {
  const path = existing(view, named)
  requireRemovable(view, grant, named, isOwn)
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
  more = '',
): Error {
  if (!isVisible(grant, seen)) return new FsError('ENOENT')
  const shown = new TextDecoder().decode(fromByteString(path))
  const allowed = accessOperations.filter((each) => allows(grant, each, path))
  const may = isWay(grant, path) && allowed.length === 0 ? 'nothing but pass' : allowed.join(', ')
  return new CairnError('forbidden', {
    what: `${operation} ${shown}`,
    reason: `the token allows ${may === '' ? 'nothing' : may} there${more}`,
    subject: shown,
  })
}
