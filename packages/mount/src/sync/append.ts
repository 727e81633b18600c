import type { AppendOp, Inode, WriteOp } from '@cairn/core'
import type { Ino } from '@cairn/protocol'
import type { Contents } from '../data/contents.ts'
import type { Answer } from '../fuse/file-system.ts'
import { type Caches, longPatienceMs, settledSoon } from '../kernel/caches.ts'

/**
 * Where an append goes. The kernel sends an offset with it, and that is only where the kernel believes the end to be: it
 * keeps an old size when others change the file. So the lease holder appends at its own end of the file, and without a lease the
 * server decides when the operation's turn comes.
 */
export function placeAtEnd(op: AppendOp, { size }: Inode): WriteOp {
  const { time, ino, data, dropPrivileges } = op
  return { type: 'write', time, ino, offset: size, data, dropPrivileges }
}

interface KernelWrite {
  readonly ino: Ino
  /** Where the kernel put the bytes. */
  readonly offset: number
  readonly length: number
}

interface KernelParts {
  readonly caches: Caches
  readonly contents: Contents
}

/** No page of any machine is smaller. */
const pageBytes = 4096

/**
 * Has the kernel drop the pages and the size of a file, after it put appended bytes in the wrong place. A page that was
 * read before now holds these bytes, and is gone before the program's write returns. A page that was not read is locked
 * until the write returns, cannot be waited for, and is read anew anyway.
 */
export function dropMisplaced(
  { caches, contents }: KernelParts,
  { ino, offset, length }: KernelWrite,
): Answer<void> {
  const pages = contents.find(ino)?.pagesRead
  const wasRead = pages?.has(offset, offset + length)
  pages?.dropAll()
  // The kernel goes on to a second page only from one that it has whole.
  const isWhole = length >= pageBytes || (offset % pageBytes) + length > pageBytes
  caches.bytes(ino, 0, 0)
  if (wasRead) return settledSoon(caches.filesSettled(), longPatienceMs)
  return isWhole ? settledSoon(caches.filesSettled()) : undefined
}

/**
 * The same for bytes that the kernel put in their place, when the server decided about them. Meanwhile the kernel may have
 * dropped the page, because of another client's change, and read it again without these bytes.
 */
export function dropRead(
  { caches, contents }: KernelParts,
  { ino, offset, length }: KernelWrite,
): Answer<void> {
  const pages = contents.find(ino)?.pagesRead
  const wasRead = pages?.has(offset, offset + length)
  pages?.drop(offset, offset + length)
  if (wasRead) {
    caches.bytes(ino, offset, length)
    return settledSoon(caches.filesSettled(), longPatienceMs)
  }
  // It may be about to drop the page because of another client's change.
  return caches.isForgetting(ino) ? settledSoon(caches.filesSettled()) : undefined
}
