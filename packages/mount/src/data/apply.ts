import {
  type AppendOp,
  copyLength,
  type CopyOp,
  dataLength,
  type FallocateOp,
  type Inode,
  type Op,
  type WriteOp,
} from '@cairn/core'
import type { Contents } from './contents.ts'
import type { SegmentPlace } from './segments.ts'

export interface OwnChange {
  /** The file as it is before the change. */
  readonly before: Inode
  /** The source file of a copy. */
  readonly from: Inode | undefined
  /** Where written bytes lie. */
  readonly place: SegmentPlace | undefined
  /** The batch the operation is in; 0 when the server has it. */
  readonly number: number
}

/** What an operation of this mount does to a file's bytes. */
export function applyOwn(contents: Contents, op: Op, change: OwnChange): void {
  const { before, from } = change
  if (op.type === 'write') put(contents, op, op.offset, change)
  else if (op.type === 'append') put(contents, op, before.size, change)
  else if (op.type === 'fallocate') clear(contents, op, before)
  else if (op.type === 'copy') putServers(contents, op, copyLength(from!, op), change)
  else if (op.type === 'reap') contents.drop(op.ino)
  else if (op.type === 'setattr' && op.size !== undefined)
    contents.of(op.ino, before).truncate(op.size)
}

function put(
  contents: Contents,
  op: WriteOp | AppendOp,
  offset: number,
  { before, place, number }: OwnChange,
): void {
  const source = place
    ? ({ type: 'local', ...place } as const)
    : ({ type: 'server', after: number } as const)
  contents.of(op.ino, before).put(offset, dataLength(op.data), source)
}

function putServers(
  contents: Contents,
  { ino, offset }: CopyOp,
  length: number,
  { before, number }: OwnChange,
): void {
  contents.of(ino, before).put(offset, length, { type: 'server', after: number })
}

function clear(contents: Contents, op: FallocateOp, before: Inode): void {
  const ranges = contents.of(op.ino, before)
  if (op.mode === 'zero') ranges.putZeros(op.offset, op.length)
  else if (op.mode === 'punch' || op.mode === 'zero-keep-size')
    ranges.putZeros(op.offset, Math.max(0, Math.min(op.length, before.size - op.offset)))
}

/** Applies another client's operation to the bytes of a file that are known here. */
export function applyForeign(contents: Contents, op: Op): void {
  if (op.type === 'reap') contents.drop(op.ino)
  const ranges = 'ino' in op ? contents.find(op.ino) : undefined
  if (!ranges) return
  if (op.type === 'write') {
    ranges.forget(op.offset, dataLength(op.data))
    ranges.pagesRead.drop(op.offset, op.offset + dataLength(op.data))
  } else if (op.type === 'append') {
    ranges.forget(ranges.serverEnd, Number.MAX_SAFE_INTEGER - ranges.serverEnd)
    ranges.pagesRead.dropAll()
  } else if (op.type === 'copy' || op.type === 'fallocate') ranges.forget(op.offset, op.length)
  else if (op.type === 'setattr' && op.size !== undefined) {
    ranges.truncate(op.size)
    ranges.version++
  }
}
