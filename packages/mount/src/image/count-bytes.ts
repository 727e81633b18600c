import {
  allocatedBytes,
  blockBytes,
  type Changes,
  type Content,
  type CopyOp,
  copyLength,
  dataLength,
  Extents,
  type FallocateOp,
  type Inode,
  type Op,
  withoutTrailingZeros,
  type WriteOp,
} from '@cairn/core'

/**
 * How many bytes a file takes is the server's to say: it knows where each block ends, and this mount has neither the
 * blocks of a file that it did not write nor the bytes of other mounts' blobs. It counts along where that is certain,
 * which is in all files but sparse ones.
 */
export interface CountedContent extends Content {
  /** Where its data ends, if all blocks before that one are full. */
  readonly dataEnd?: number | undefined
  /** The number is not the server's: to be asked for. */
  readonly isGuess?: boolean | undefined
}

/** Takes an operation without the bytes, and counts them. */
export function applyAndCount(
  changes: Changes,
  op: Op,
  apply: (changes: Changes, op: Op) => void,
): void {
  if (!changesBytes(op)) return apply(changes, op)
  const before = changes.inode(op.ino)
  apply(changes, op)
  const after = changes.inode(op.ino)
  if (!before?.content || !after?.content) return
  const dataEnd = dataEndAfter(before, after, op)
  const isGuess = dataEnd === undefined
  const allocated = dataEnd ?? guess(changes, after, op)
  const foldedEnd = after.size
  const content: CountedContent = {
    first: undefined,
    allocated,
    foldedEnd,
    extents: Extents.none,
    dataEnd,
    isGuess,
  }
  changes.setInode(op.ino, { ...after, content })
}

/** What the server says; what it did not say stays as it was guessed. */
export function counted({ content, size }: Inode, bytes: number | undefined): CountedContent {
  const allocated = bytes ?? allocatedBytes(content!)
  return { ...content!, allocated, foldedEnd: size, dataEnd: undefined, isGuess: false }
}

export function isGuess({ content }: Inode): boolean {
  return (content as CountedContent | undefined)?.isGuess === true
}

type ChangeOfBytes = Extract<Op, { type: 'write' | 'append' | 'fallocate' | 'copy' | 'setattr' }>

const always: ReadonlySet<Op['type']> = new Set(['write', 'append', 'fallocate', 'copy'])

function changesBytes(op: Op): op is ChangeOfBytes {
  return always.has(op.type) || (op.type === 'setattr' && op.size !== undefined)
}

/** Undefined where only the server can tell. */
function dataEndAfter(before: Inode, { size }: Inode, op: ChangeOfBytes): number | undefined {
  if (size === 0) return 0
  const end = dataEndOf(before)
  if (end === undefined) return undefined
  switch (op.type) {
    case 'write':
      return endAfterWrite(end, op.offset, op.data)
    case 'append':
      return endAfterWrite(end, before.size, op.data)
    case 'fallocate':
      return endAfterFallocate(end, op)
    case 'setattr':
      return size >= end ? end : undefined
    case 'copy':
      return undefined
  }
}

function dataEndOf({ content, size }: Inode): number | undefined {
  const { allocated, dataEnd, isGuess } = content as CountedContent
  if (isGuess || dataEnd !== undefined) return dataEnd
  return allocated >= size || size <= blockBytes ? allocated : undefined
}

function endAfterWrite(end: number, offset: number, data: WriteOp['data']): number | undefined {
  const length = dataLength(data)
  // It leaves a block out.
  if (offset > end && Math.floor(offset / blockBytes) > Math.floor(end / blockBytes))
    return undefined
  const stop = offset + length
  for (let border = nextBorder(offset); border <= stop; border += blockBytes)
    if (isZeroAt(data, border - offset - 1)) return undefined
  if (stop < end) return end
  const last = lengthOfData(data)
  if (last === undefined || last > 0) return last && offset + last
  return offset >= end ? end : undefined
}

function endAfterFallocate(end: number, { mode, offset, length }: FallocateOp): number | undefined {
  if (mode === 'allocate' || mode === 'allocate-keep-size' || offset >= end) return end
  const stop = offset + length
  return stop < end && stop < nextBorder(offset) ? end : undefined
}

function nextBorder(offset: number): number {
  return (Math.floor(offset / blockBytes) + 1) * blockBytes
}

/** A blob ends with a byte that is not zero; elsewhere in it there may be some. */
function isZeroAt(data: WriteOp['data'], at: number): boolean {
  if (data.type === 'bytes') return data.bytes[at] === 0
  return data.start + at + 1 < data.blobLength
}

function lengthOfData(data: WriteOp['data']): number | undefined {
  if (data.type === 'bytes') return withoutTrailingZeros(data.bytes).length
  return data.start + data.length < data.blobLength ? undefined : data.length
}

/** Until the server is asked: what was written counts as it stands. */
function guess(changes: Changes, { content }: Inode, op: ChangeOfBytes): number {
  return allocatedBytes(content!) + (op.type === 'copy' ? copied(changes, op) : 0)
}

/** Which blocks of a source are holes only the server knows: as many bytes are copied as the whole file has. */
function copied(changes: Changes, op: CopyOp): number {
  const from = changes.inode(op.from)!
  return Math.min(copyLength(from, op), allocatedBytes(from.content!))
}
