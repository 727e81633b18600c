import type { AppendOp, Inode, WriteOp } from '@cairn/core'
import type { Ino } from '@cairn/protocol'
import type { Contents } from '../data/contents.ts'
import type { Answer } from '../fuse/file-system.ts'
import { type Caches, settledSoon } from '../kernel/caches.ts'

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

/** No page of any machine is smaller. */
const pageBytes = 4096

/**
 * Has the kernel drop the pages and the size of a file, after it put appended bytes in the wrong place. A page that was
 * read before now holds these bytes, and is gone before the program's write returns. A page that was not read is locked
 * until the write returns, cannot be waited for, and is read anew anyway.
 */
export function dropMisplaced(
  { caches, contents }: { readonly caches: Caches; readonly contents: Contents },
  { ino, offset, length }: KernelWrite,
): Answer<void> {
  const isWholePages = (offset % pageBytes) + length >= pageBytes
  const mayBeKept = contents.takeWasRead(ino) || isWholePages
  caches.bytes(ino, 0, 0)
  return mayBeKept ? settledSoon(caches) : undefined
}
