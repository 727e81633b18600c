import { FsError, type Ino, parseName } from '@cairn/protocol'
import { emptyContent } from '../../content/content.ts'
import type { Changes } from '../changes.ts'
import { type Inode, modeBits } from '../inode.ts'
import type { CreateOp, LinkOp, ReapOp, RmdirOp, UnlinkOp } from '../op.ts'
import {
  addLink,
  addName,
  getChild,
  getDirectory,
  getInode,
  orphanDirectory,
  removeLink,
  removeName,
} from './directory.ts'

/** As ext4 has it. */
const linksMax = 65_000
/** PATH_MAX without its NUL. */
const targetBytesMax = 4095

export function applyCreate(changes: Changes, op: CreateOp): void {
  getDirectory(changes, op.parent)
  requireFree(changes, op)
  // A number is given once. Giving it again would join two files into one.
  if (changes.inode(op.ino)) throw new FsError('ESTALE')
  changes.setInode(op.ino, newInode(op))
  addName(changes, op, { ino: op.ino, kind: op.kind }, op.time)
}

function newInode(op: CreateOp): Inode {
  if ((op.kind === 'symlink') !== (op.target !== undefined)) throw new FsError('EINVAL')
  if (op.target) requireTarget(op.target)
  return {
    kind: op.kind,
    mode: op.mode & modeBits.all,
    uid: op.uid,
    gid: op.gid,
    size: op.target?.length ?? 0,
    nlink: op.kind === 'directory' ? 2 : 1,
    rdev: op.kind === 'character' || op.kind === 'block' ? op.rdev : 0,
    atime: op.time,
    mtime: op.time,
    ctime: op.time,
    home: { parent: op.parent, name: op.name },
    target: op.target,
    xattrs: undefined,
    content: op.kind === 'file' ? emptyContent : undefined,
  }
}

/** A symlink that leads nowhere may be made, one without a target may not. */
export function requireTarget(target: Uint8Array): void {
  if (target.length === 0) throw new FsError('ENOENT')
  if (target.length > targetBytesMax) throw new FsError('ENAMETOOLONG')
}

export function applyLink(changes: Changes, op: LinkOp): void {
  getDirectory(changes, op.parent)
  requireFree(changes, op)
  const inode = getInode(changes, op.ino)
  if (inode.kind === 'directory') throw new FsError('EPERM')
  if (inode.nlink === 0) throw new FsError('ENOENT')
  if (inode.nlink >= linksMax) throw new FsError('EMLINK')
  const link = { parent: op.parent, name: op.name }
  addLink(changes, op.ino, link, op.time)
  addName(changes, link, { ino: op.ino, kind: inode.kind }, op.time)
}

export function applyUnlink(changes: Changes, op: UnlinkOp): void {
  getDirectory(changes, op.parent)
  const dentry = getChild(changes, op.parent, op.name)
  if (dentry.kind === 'directory') throw new FsError('EISDIR')
  const link = { parent: op.parent, name: op.name }
  removeName(changes, link, dentry, op.time)
  removeLink(changes, dentry.ino, link, op.time)
}

export function applyRmdir(changes: Changes, op: RmdirOp): void {
  getDirectory(changes, op.parent)
  const dentry = getChild(changes, op.parent, op.name)
  requireEmptyDirectory(changes, dentry.ino)
  removeName(changes, op, dentry, op.time)
  orphanDirectory(changes, dentry.ino, op.time)
}

export function applyReap(changes: Changes, op: ReapOp): void {
  if (getInode(changes, op.ino).nlink > 0) throw new FsError('EBUSY')
  changes.removeInode(op.ino)
}

export function requireEmptyDirectory(changes: Changes, ino: Ino): void {
  const inode = getInode(changes, ino)
  if (inode.kind !== 'directory') throw new FsError('ENOTDIR')
  if (inode.size > 0) throw new FsError('ENOTEMPTY')
}

function requireFree(changes: Changes, op: CreateOp | LinkOp): void {
  parseName(op.name)
  if (changes.child(op.parent, op.name)) throw new FsError('EEXIST')
}
