import { type BlockRef, blockBytes, blockLength } from './block.ts'
import { cut, type Extent, Extents } from './extents.ts'

/** What a file holds: blocks as they were folded, and on top of them what was written since. */
export interface Content {
  /** Block 0. The others stand under keys of their own and are asked for as they are needed. */
  readonly first: BlockRef | undefined
  /** Bytes in all folded blocks. */
  readonly allocated: number
  /** Folded blocks count up to here; beyond, they read as zeros (the file was cut since the fold). */
  readonly foldedEnd: number
  readonly extents: Extents
}

export const emptyContent: Content = {
  first: undefined,
  allocated: 0,
  foldedEnd: 0,
  extents: Extents.none,
}

/** Gives the folded block of that number, 1 or above. */
export type BlockReader = (index: number) => BlockRef | undefined

export function writeContent(content: Content, extent: Extent): Content {
  return { ...content, extents: content.extents.write(extent) }
}

export function truncateContent(content: Content, size: number): Content {
  const foldedEnd = Math.min(content.foldedEnd, size)
  return { ...content, foldedEnd, extents: content.extents.truncate(size) }
}

export function isFolded(content: Content, size: number): boolean {
  return content.extents.length === 0 && content.foldedEnd === size
}

/** The range as a gapless row of extents: what was written over what was folded over holes. */
export function* extentsOf(
  content: Content,
  blocks: BlockReader,
  offset: number,
  end: number,
): Generator<Extent> {
  const { extents } = content
  for (let i = extents.firstAfter(offset); i < extents.length && offset < end; i++) {
    const extent = extents.at(i)
    if (extent.offset >= end) break
    if (extent.offset > offset) yield* foldedExtents(content, blocks, offset, extent.offset)
    const start = Math.max(offset, extent.offset)
    offset = Math.min(end, extent.offset + extent.length)
    yield cut(extent, start, offset)
  }
  if (offset < end) yield* foldedExtents(content, blocks, offset, end)
}

function* foldedExtents(
  content: Content,
  blocks: BlockReader,
  offset: number,
  end: number,
): Generator<Extent> {
  while (offset < end) {
    const index = Math.floor(offset / blockBytes)
    const start = index * blockBytes
    const stop = Math.min(end, start + blockBytes)
    const block =
      index === 0 ? content.first : start < content.foldedEnd ? blocks(index) : undefined
    const dataEnd = Math.min(stop, start + blockLength(block), content.foldedEnd)
    if (block && offset < dataEnd) {
      yield blockExtent(block, start, offset, dataEnd)
      offset = dataEnd
    }
    if (offset < stop) yield { offset, length: stop - offset, source: undefined }
    offset = stop
  }
}

function blockExtent(block: BlockRef, start: number, offset: number, end: number): Extent {
  const whole: Extent =
    block.type === 'inline'
      ? { offset: start, length: block.bytes.length, source: { type: 'bytes', bytes: block.bytes } }
      : {
          offset: start,
          length: block.length,
          source: { type: 'blob', id: block.id, blobLength: block.length, start: 0 },
        }
  return cut(whole, offset, end)
}
