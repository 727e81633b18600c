import { createHash } from 'node:crypto'
import {
  assemble,
  blockBytes,
  contentExtents,
  type Extent,
  type Inode,
  readFile,
  type Stores,
  textMergeBytesMax,
  type View,
  withoutTrailingZeros,
} from '@cairn/core'
import type { Ino } from '@cairn/protocol'
import type { ContentLines } from './line-origins.ts'

/** Undefined where there is no file. Throws what the stores throw when its bytes are gone. */
export async function readForBlame(
  { nodes, blobs }: Stores,
  view: View,
  ino: Ino,
): Promise<ContentLines | undefined> {
  const inode = await nodes.read(() => view.inode(ino))
  if (!inode?.content) return undefined
  const { size } = inode
  if (size > textMergeBytesMax)
    return { size, hash: await hashSparse({ nodes, blobs }, view, ino, inode), bytes: undefined }
  const bytes = await readFile(nodes, blobs, view, ino, inode)
  return { size, hash: createHash('sha256').update(bytes).digest('hex'), bytes }
}

/** Equal for equal bytes, however they were written. Holes are skipped and not read. */
async function hashSparse(
  { nodes, blobs }: Pick<Stores, 'nodes' | 'blobs'>,
  view: View,
  ino: Ino,
  inode: Inode,
): Promise<string> {
  const sum = createHash('sha256').update(`${inode.size}`)
  const extents = await nodes.read(() => [...contentExtents(view, ino, inode, 0, inode.size)])
  for (const block of dataBlocks(extents)) {
    const end = Math.min(block + blockBytes, inode.size)
    const parts = await nodes.read(() => [...contentExtents(view, ino, inode, block, end)])
    const bytes = withoutTrailingZeros(await assemble(parts, blobs))
    if (bytes.length > 0) sum.update(`,${block}:${bytes.length}:`).update(bytes)
  }
  return sum.digest('hex')
}

/** Where the blocks begin that have data, in order, each once. */
function* dataBlocks(extents: readonly Extent[]): Generator<number> {
  let next = 0
  for (const { offset, length, source } of extents) {
    if (!source) continue
    const first = Math.max(next, offset - (offset % blockBytes))
    for (next = first; next < offset + length; next += blockBytes) yield next
  }
}
