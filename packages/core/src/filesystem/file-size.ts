import { FsError } from '@cairn/protocol'
import { applyOp } from './apply.ts'
import type { Changes } from './changes.ts'
import type { Op } from './op.ts'

/**
 * No file grows beyond 16 TiB, the limit of ext4 with blocks of 4 KiB. The format has room for more (`fileBytesMax`):
 * a file that became larger under an older version can still be read, changed and made smaller.
 */
export const largestFileBytes: number = 2 ** 44

/** Applies an operation: EFBIG where a file would grow too large. */
export function applyWithinFileSize(changes: Changes, op: Op): void {
  const sizeBefore = sizeOf(changes, op)
  applyOp(changes, op)
  // As on Linux: a range beyond the largest file is refused also where the file would keep its size.
  const end = op.type === 'fallocate' ? op.offset + op.length : sizeOf(changes, op)
  if (end > largestFileBytes && end > sizeBefore) throw new FsError('EFBIG')
}

const growing: ReadonlySet<Op['type']> = new Set([
  'write',
  'append',
  'fallocate',
  'copy',
  'setattr',
])

/** The size of the file that an operation may make larger; 0 for every other operation. */
function sizeOf(changes: Changes, op: Op): number {
  return growing.has(op.type) && 'ino' in op ? (changes.inode(op.ino)?.size ?? 0) : 0
}
