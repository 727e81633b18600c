import { type ByteString, FsError } from '@cairn/protocol'
import { fileBytesMax } from '../../content/block.ts'
import { truncateContent } from '../../content/content.ts'
import type { Changes } from '../changes.ts'
import { type Inode, laterTime, modeBits, type Xattrs } from '../inode.ts'
import type { RemovexattrOp, SetattrOp, SetxattrOp } from '../op.ts'
import { getFile, getInode } from './directory.ts'

const xattrNameBytesMax = 255
const xattrValueBytesMax = 65_536
/** All attributes of one inode together: they stand in one tree entry. */
const xattrsBytesMax = 65_536

export function applySetattr(changes: Changes, op: SetattrOp): void {
  const inode = op.size === undefined ? getInode(changes, op.ino) : resize(changes, op, op.size)
  changes.setInode(op.ino, {
    ...inode,
    mode: (op.mode ?? inode.mode) & modeBits.all,
    uid: op.uid ?? inode.uid,
    gid: op.gid ?? inode.gid,
    atime: op.atime ?? inode.atime,
    mtime: op.mtime ?? inode.mtime,
    ctime: laterTime(inode.ctime, op.time),
  })
}

function resize(changes: Changes, op: SetattrOp, size: number): Inode {
  const file = getFile(changes, op.ino)
  if (size < 0) throw new FsError('EINVAL')
  if (size > fileBytesMax) throw new FsError('EFBIG')
  const content = size < file.size ? truncateContent(file.content!, size) : file.content
  return { ...file, size, content, mtime: op.time }
}

export function applySetxattr(changes: Changes, op: SetxattrOp): void {
  const inode = getInode(changes, op.ino)
  const present = inode.xattrs?.has(op.name) ?? false
  requireXattrName(op.name)
  if (op.value.length > xattrValueBytesMax) throw new FsError('E2BIG')
  if (op.mode === 'create' && present) throw new FsError('EEXIST')
  if (op.mode === 'replace' && !present) throw new FsError('ENODATA')
  const xattrs = new Map(inode.xattrs).set(op.name, op.value)
  if (xattrsBytes(xattrs) > xattrsBytesMax) throw new FsError('ENOSPC')
  changes.setInode(op.ino, { ...inode, xattrs, ctime: laterTime(inode.ctime, op.time) })
}

export function applyRemovexattr(changes: Changes, op: RemovexattrOp): void {
  const inode = getInode(changes, op.ino)
  const xattrs = new Map<ByteString, Uint8Array>(inode.xattrs)
  if (!xattrs.delete(op.name)) throw new FsError('ENODATA')
  changes.setInode(op.ino, {
    ...inode,
    xattrs: xattrs.size > 0 ? xattrs : undefined,
    ctime: laterTime(inode.ctime, op.time),
  })
}

export function requireXattrName(name: ByteString): void {
  if (name === '' || name.length > xattrNameBytesMax) throw new FsError('ERANGE')
}

function xattrsBytes(xattrs: Xattrs): number {
  let bytes = 0
  for (const [name, value] of xattrs) bytes += name.length + value.length
  return bytes
}
