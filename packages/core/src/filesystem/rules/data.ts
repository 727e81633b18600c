import { FsError, type Ino } from '@cairn/protocol'
import { blobBytesMax } from '../../content/blobs.ts'
import { fileBytesMax } from '../../content/block.ts'
import { extentsOf, truncateContent, writeContent } from '../../content/content.ts'
import type { Extent, Source } from '../../content/extents.ts'
import type { Changes } from '../changes.ts'
import { type Inode, laterTime, modeBits } from '../inode.ts'
import type { AppendOp, CopyOp, Data, FallocateOp, PrivilegeDrop, WriteOp } from '../op.ts'
import type { View } from '../view.ts'
import { getFile } from './directory.ts'

export function dataLength(data: Data): number {
  return data.type === 'bytes' ? data.bytes.length : data.length
}

export function applyWrite(changes: Changes, op: WriteOp): void {
  const file = getFile(changes, op.ino)
  const length = dataLength(op.data)
  requireRange(op.offset, length)
  if (length === 0) return
  const { offset } = op
  changes.setInode(op.ino, changed(write(file, { offset, length, source: sourceOf(op.data) }), op))
}

export function applyAppend(changes: Changes, op: AppendOp): void {
  applyWrite(changes, { ...op, type: 'write', offset: getFile(changes, op.ino).size })
}

function sourceOf(data: Data): Source {
  if (data.type === 'bytes') return data
  const { type, id, blobLength, start } = data
  // No such blob can be stored; believing in it would have a fold make blocks without end.
  if (blobLength > blobBytesMax) throw new FsError('EINVAL')
  return { type, id, blobLength, start }
}

export function applyFallocate(changes: Changes, op: FallocateOp): void {
  const file = getFile(changes, op.ino)
  if (op.length === 0) throw new FsError('EINVAL')
  requireRange(op.offset, op.length)
  changes.setInode(op.ino, changed(allocate(file, op), op))
}

function allocate(file: Inode, op: FallocateOp): Inode {
  const end = op.offset + op.length
  const grown = { ...file, size: Math.max(file.size, end) }
  switch (op.mode) {
    // A promise of room needs no bytes here: blocks are made when they are written.
    case 'allocate':
      return grown
    case 'allocate-keep-size':
      return file
    case 'punch':
    case 'zero-keep-size':
      return clear(file, op.offset, Math.min(end, file.size))
    case 'zero':
      return clear(grown, op.offset, end)
  }
}

function clear(file: Inode, offset: number, end: number): Inode {
  if (offset >= end) return file
  if (end >= file.size) return { ...file, content: truncateContent(file.content!, offset) }
  const hole = { offset, length: end - offset, source: undefined }
  return { ...file, content: writeContent(file.content!, hole) }
}

export function applyCopy(changes: Changes, op: CopyOp): void {
  const from = getFile(changes, op.from)
  const file = getFile(changes, op.ino)
  const length = copyLength(from, op)
  // What counts is what will be copied: callers ask for more than there is when they want all of it.
  requireRange(op.fromOffset, length)
  requireRange(op.offset, length)
  if (length === 0) return
  if (op.from === op.ino && Math.abs(op.fromOffset - op.offset) < length)
    throw new FsError('EINVAL')
  let copy = file
  for (const extent of contentExtents(
    changes,
    op.from,
    from,
    op.fromOffset,
    op.fromOffset + length,
  ))
    copy = write(copy, { ...extent, offset: extent.offset - op.fromOffset + op.offset })
  changes.setInode(op.ino, changed(copy, op))
}

/** How many bytes a copy moves: it ends where its source ends. */
export function copyLength(from: Inode, op: Pick<CopyOp, 'fromOffset' | 'length'>): number {
  return Math.max(0, Math.min(op.length, from.size - op.fromOffset))
}

/** A file's bytes as a gapless row of extents. */
export function contentExtents(
  view: View,
  ino: Ino,
  file: Inode,
  offset: number,
  end: number,
): Generator<Extent> {
  return extentsOf(
    file.content!,
    (index) => view.blockFrom(ino, index),
    offset,
    Math.min(end, file.size),
  )
}

function write(file: Inode, extent: Extent): Inode {
  const size = Math.max(file.size, extent.offset + extent.length)
  return { ...file, size, content: writeContent(file.content!, extent) }
}

function changed(file: Inode, op: WriteOp | FallocateOp | CopyOp): Inode {
  const mode = withoutPrivileges(file.mode, op.dropPrivileges)
  return { ...file, mode, mtime: op.time, ctime: laterTime(file.ctime, op.time) }
}

/** Set-group-id without group-execute once meant mandatory locking; Linux leaves it to the group. */
export function withoutPrivileges(mode: number, drop: PrivilegeDrop): number {
  if (drop === false) return mode
  const keepsGroup = drop === 'member' && (mode & modeBits.groupExecute) === 0
  return mode & ~(keepsGroup ? modeBits.setuid : modeBits.setuid | modeBits.setgid)
}

function requireRange(offset: number, length: number): void {
  if (!(offset >= 0 && length >= 0)) throw new FsError('EINVAL')
  if (offset + length > fileBytesMax) throw new FsError('EFBIG')
}
