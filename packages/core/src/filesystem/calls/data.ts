import { FsError, type Ino } from '@cairn/protocol'
import { may, requireAccess, privilegeDropOf } from '../access.ts'
import type { Inode } from '../inode.ts'
import type { CopyOp, Data, FallocateMode, FallocateOp, SetattrOp, WriteOp } from '../op.ts'
import { withoutPrivileges } from '../rules/data.ts'
import { getFile, getInode } from '../rules/directory.ts'
import type { Call } from './context.ts'

/**
 * Opening takes the rights of the moment; what is open stays open when they change. `wanted` is a sum of `may`'s
 * values.
 */
export function open(call: Call, ino: Ino, wanted: number): Inode {
  const inode = getInode(call.view, ino)
  if (inode.kind === 'symlink') throw new FsError('ELOOP')
  if (inode.kind === 'directory' && (wanted & may.write) !== 0) throw new FsError('EISDIR')
  requireAccess(inode, call.who, wanted)
  // A socket is reached by connecting to it.
  if (inode.kind === 'socket') throw new FsError('ENXIO')
  return inode
}

/** Truncates a file by its name: the caller needs permission to write it. */
export function truncate(call: Call, ino: Ino, size: number): SetattrOp {
  requireAccess(getFile(call.view, ino), call.who, may.write)
  return truncateOpen(call, ino, size)
}

/** Truncates a file that the caller has open for writing. */
export function truncateOpen(call: Call, ino: Ino, size: number): SetattrOp {
  const file = getFile(call.view, ino)
  if (size < 0) throw new FsError('EINVAL')
  const mode = withoutPrivileges(file.mode, privilegeDropOf(call.who, file))
  return {
    type: 'setattr',
    time: call.now,
    ino,
    size,
    ...(mode === file.mode ? {} : { mode }),
  }
}

export function write(call: Call, ino: Ino, offset: number, data: Data): WriteOp {
  const dropPrivileges = privilegeDropOf(call.who, getFile(call.view, ino))
  return { type: 'write', time: call.now, ino, offset, data, dropPrivileges }
}

export function fallocate(
  call: Call,
  ino: Ino,
  mode: FallocateMode,
  offset: number,
  length: number,
): FallocateOp {
  const inode = getInode(call.view, ino)
  if (inode.kind === 'fifo') throw new FsError('ESPIPE')
  if (inode.kind !== 'file') throw new FsError(inode.kind === 'directory' ? 'EISDIR' : 'ENODEV')
  const dropPrivileges = privilegeDropOf(call.who, inode)
  return { type: 'fallocate', time: call.now, ino, offset, length, mode, dropPrivileges }
}

export interface Copy {
  readonly from: Ino
  readonly fromOffset: number
  readonly ino: Ino
  readonly offset: number
  readonly length: number
}

export function copy(call: Call, range: Copy): CopyOp {
  getFile(call.view, range.from)
  const dropPrivileges = privilegeDropOf(call.who, getFile(call.view, range.ino))
  return { type: 'copy', time: call.now, ...range, dropPrivileges }
}
