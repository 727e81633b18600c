import { FsError, type Ino, parseName } from '@cairn/protocol'
import type { Changes } from '../changes.ts'
import { type Dentry, laterTime, type Link } from '../inode.ts'
import type { Time } from '../../ports/records.ts'
import type { RenameOp } from '../op.ts'
import type { View } from '../view.ts'
import {
  addName,
  getChild,
  getDirectory,
  getInode,
  orphanDirectory,
  removeLink,
  removeName,
  sameLink,
} from './directory.ts'
import { requireEmptyDirectory } from './names.ts'

/** The errors come in the order in which Linux finds them. */
export function applyRename(changes: Changes, op: RenameOp): void {
  const from: Link = { parent: op.parent, name: op.name }
  const to: Link = { parent: op.newParent, name: parseName(op.newName) }
  const { source, target } = checkRename(changes, op)
  if (target?.ino === source.ino) return
  if (op.mode === 'exchange') return exchange(changes, from, source, to, target!, op.time)
  if (target) replace(changes, to, source, target, op.time)
  move(changes, source, from, to, op.time)
}

export type RenameNames = Pick<RenameOp, 'parent' | 'name' | 'newParent' | 'newName' | 'mode'>

export interface RenameEnds {
  readonly source: Dentry
  readonly target: Dentry | undefined
}

export function findRenameEnds(view: View, names: RenameNames): RenameEnds {
  getDirectory(view, names.parent)
  getDirectory(view, names.newParent)
  const source = getChild(view, names.parent, names.name)
  const target = view.child(names.newParent, names.newName)
  if (target && names.mode === 'noreplace') throw new FsError('EEXIST')
  if (!target && names.mode === 'exchange') throw new FsError('ENOENT')
  return { source, target }
}

/** These conditions come before any permission check. */
export function checkRename(view: View, op: RenameNames): RenameEnds {
  const { source, target } = findRenameEnds(view, op)
  if (isInside(view, op.newParent, source.ino)) throw new FsError('EINVAL')
  if (target && isInside(view, op.parent, target.ino))
    throw new FsError(op.mode === 'exchange' ? 'EINVAL' : 'ENOTEMPTY')
  return { source, target }
}

/** Whether `ino` is `ancestor` or lies below it. Only directories have something below them. */
function isInside(view: View, ino: Ino, ancestor: Ino): boolean {
  for (let at: Ino | undefined = ino; at !== undefined; at = view.inode(at)?.home?.parent)
    if (at === ancestor) return true
  return false
}

/** A directory replaces a directory, and nothing else does. */
export function requireReplaceable(source: Dentry, target: Dentry): void {
  if (source.kind === 'directory' && target.kind !== 'directory') throw new FsError('ENOTDIR')
  if (source.kind !== 'directory' && target.kind === 'directory') throw new FsError('EISDIR')
}

function replace(changes: Changes, to: Link, source: Dentry, target: Dentry, time: Time): void {
  requireReplaceable(source, target)
  if (target.kind === 'directory') requireEmptyDirectory(changes, target.ino)
  removeName(changes, to, target, time)
  if (target.kind === 'directory') orphanDirectory(changes, target.ino, time)
  else removeLink(changes, target.ino, to, time)
}

function move(changes: Changes, dentry: Dentry, from: Link, to: Link, time: Time): void {
  removeName(changes, from, dentry, time)
  addName(changes, to, dentry, time)
  rehome(changes, dentry.ino, from, to, time)
}

function exchange(
  changes: Changes,
  from: Link,
  source: Dentry,
  to: Link,
  target: Dentry,
  time: Time,
): void {
  removeName(changes, from, source, time)
  removeName(changes, to, target, time)
  addName(changes, to, source, time)
  addName(changes, from, target, time)
  rehome(changes, source.ino, from, to, time)
  rehome(changes, target.ino, to, from, time)
}

function rehome(changes: Changes, ino: Ino, from: Link, to: Link, time: Time): void {
  const inode = getInode(changes, ino)
  if (!inode.home)
    changes.setLinks(
      ino,
      changes.links(ino).map((link) => (sameLink(link, from) ? to : link)),
    )
  changes.setInode(ino, { ...inode, home: inode.home && to, ctime: laterTime(inode.ctime, time) })
}
