import { FsError } from '@cairn/protocol'
import { blockBytes } from './block.ts'
import { type BlockReader, type Content, extentsOf } from './content.ts'

/**
 * The first offset from `offset` on that lies in data. A block is data when anything in it was written: finer
 * borders would move when the file is folded, which cuts zeros off the ends of blocks. Throws ENXIO where only
 * a hole follows.
 */
export function seekData(
  content: Content,
  blocks: BlockReader,
  size: number,
  offset: number,
): number {
  requireInside(size, offset)
  for (const extent of extentsOf(content, blocks, blockStart(offset), size))
    if (extent.source) return Math.max(offset, blockStart(extent.offset))
  throw new FsError('ENXIO')
}

/** The first offset from `offset` on that lies in a hole. The end of the file counts as one. */
export function seekHole(
  content: Content,
  blocks: BlockReader,
  size: number,
  offset: number,
): number {
  requireInside(size, offset)
  let dataEnd = blockStart(offset)
  for (const { offset: start, length, source } of extentsOf(content, blocks, dataEnd, size)) {
    if (blockStart(start) > dataEnd) break
    if (source) dataEnd = blockStart(start + length - 1) + blockBytes
  }
  return Math.min(size, Math.max(offset, dataEnd))
}

function requireInside(size: number, offset: number): void {
  if (offset < 0 || offset >= size) throw new FsError('ENXIO')
}

function blockStart(offset: number): number {
  return offset - (offset % blockBytes)
}
