import { copyLength, dataLength, type Inode, type Op } from '@cairn/core'
import type { Contents } from './contents.ts'
import type { Place } from './segments.ts'

export interface OwnChange {
  /** The file as it is before the change. */
  readonly before: Inode
  /** Of a copy: the file it is made from. */
  readonly from: Inode | undefined
  /** Where written bytes lie. */
  readonly place: Place | undefined
  /** The batch the operation is in; 0 when the server has it. */
  readonly number: number
}

/** What an operation of this mount does to a file's bytes. */
export function applyOwn(contents: Contents, op: Op, change: OwnChange): void {
  const { before, from, place, number } = change
  switch (op.type) {
    case 'write': {
      const ranges = contents.of(op.ino, before)
      const source = place
        ? ({ type: 'local', ...place } as const)
        : ({ type: 'server', after: number } as const)
      return ranges.put(op.offset, dataLength(op.data), source)
    }
    case 'setattr':
      if (op.size !== undefined) contents.of(op.ino, before).truncate(op.size)
      return
    case 'fallocate': {
      const ranges = contents.of(op.ino, before)
      if (op.mode === 'zero') ranges.putZeros(op.offset, op.length)
      if (op.mode !== 'punch' && op.mode !== 'zero-keep-size') return
      return ranges.putZeros(op.offset, Math.max(0, Math.min(op.length, before.size - op.offset)))
    }
    case 'copy':
      return contents
        .of(op.ino, before)
        .put(op.offset, copyLength(from!, op), { type: 'server', after: number })
    case 'reap':
      return contents.drop(op.ino)
    default:
  }
}

/** What somebody else's operation does to what is known here of a file's bytes. */
export function applyForeign(contents: Contents, op: Op): void {
  if (op.type === 'reap') contents.drop(op.ino)
  const ranges = 'ino' in op ? contents.find(op.ino) : undefined
  if (!ranges) return
  if (op.type === 'write') ranges.forget(op.offset, dataLength(op.data))
  else if (op.type === 'copy' || op.type === 'fallocate') ranges.forget(op.offset, op.length)
  else if (op.type === 'setattr' && op.size !== undefined) {
    ranges.truncate(op.size)
    ranges.version++
  }
}
