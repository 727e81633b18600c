import { blockLength, type Inode, type View } from '@cairn/core'
import { type Hash, type Ino, toByteString } from '@cairn/protocol'
import { planRead } from '../../files/send.ts'
import { sha256 } from '../../ports/content-worker.ts'

/** Equal for equal contents of one pool. Of one block it is SHA-256. Wants a file that was folded; throws NodeMiss. */
export function contentHash(view: View, ino: Ino, inode: Inode): Hash {
  if (inode.size === 0) return sha256(new Uint8Array())
  const { first, allocated } = inode.content!
  const isWhole = first && blockLength(first) === inode.size && allocated === inode.size
  if (!isWhole) return sha256(Buffer.from(describeBlocks(view, ino, inode)))
  return first.type === 'blob' ? first.id : sha256(first.bytes)
}

function describeBlocks(view: View, ino: Ino, inode: Inode): string {
  const blocks = planRead(view, ino, inode, 0, inode.size).map(({ length, source }) => {
    if (!source) return `${length} hole`
    if (source.type === 'blob') return `${length} ${source.start} ${source.id}`
    return `${length} ${toByteString(source.bytes)}`
  })
  return JSON.stringify(blocks)
}
