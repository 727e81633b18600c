import { copyLength, dataCalls, seekData, seekHole, type View } from '@cairn/core'
import { FsError, type Ino } from '@cairn/protocol'
import { O_APPEND, SEEK_CUR, SEEK_DATA, SEEK_END, SEEK_HOLE, SEEK_SET } from '../constants.ts'
import { type Descriptor, isOpenFor } from './descriptors.ts'
import type { Thread } from './thread.ts'
import { writeOps } from './write-ops.ts'

export async function readBytes(
  thread: Thread,
  ino: Ino,
  offset: number,
  length: number,
): Promise<Uint8Array> {
  const { kind } = await thread.inode(ino)
  if (kind === 'directory') throw new FsError('EISDIR')
  return thread.workspace.read(ino, offset, offset + length)
}

/** Resolves to where the bytes end. */
export async function writeBytes(
  thread: Thread,
  { ino, flags }: Descriptor,
  offset: number,
  bytes: Uint8Array,
): Promise<number> {
  const start = (flags & O_APPEND) === 0 ? offset : (await thread.inode(ino)).size
  await thread.workspace.submit(await writeOps(thread, ino, start, bytes))
  return start + bytes.length
}

/** Resolves to the number of bytes copied. */
export async function copyRange(
  thread: Thread,
  from: Descriptor,
  fromOffset: number,
  to: Descriptor,
  offset: number,
  length: number,
): Promise<number> {
  const range = { from: from.ino, fromOffset, ino: to.ino, offset, length }
  const { op, copied } = await thread.look((call) => {
    const op = dataCalls.copy(call, range)
    return { op, copied: copyLength(call.view.inode(from.ino)!, range) }
  })
  // Only here: the kernel looks at what is open before how it is open.
  if (!isOpenFor(from, 'reading') || !isOpenFor(to, 'writing')) throw new FsError('EBADF')
  if ((to.flags & O_APPEND) !== 0) throw new FsError('EBADF')
  await thread.workspace.submit([op])
  return copied
}

/** The new offset. */
export function seek(
  view: View,
  { ino, offset: current }: Descriptor,
  offset: number,
  whence: number,
): number {
  const { kind, size, content } = view.inode(ino)!
  if (kind === 'fifo' || kind === 'socket') throw new FsError('ESPIPE')
  const blocks = (index: number) => view.blockFrom(ino, index)
  switch (whence) {
    case SEEK_SET:
      return notNegative(offset)
    case SEEK_CUR:
      return notNegative(current + offset)
    case SEEK_END:
      return notNegative(size + offset)
    case SEEK_DATA:
      return seekData(content!, blocks, size, offset)
    case SEEK_HOLE:
      return seekHole(content!, blocks, size, offset)
    default:
      throw new FsError('EINVAL')
  }
}

function notNegative(offset: number): number {
  if (offset < 0) throw new FsError('EINVAL')
  return offset
}
