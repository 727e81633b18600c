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
  /** Set when there may be folded blocks, or bytes of them, behind `foldedEnd`. */
  readonly isCut?: true
  readonly extents: Extents
}

export const emptyContent: Content = {
  first: undefined,
  allocated: 0,
  foldedEnd: 0,
  extents: Extents.none,
}

/** Whether there are folded blocks numbered 1 or above. Most files are small and need no lookup. */
export function hasFurtherBlocks({
  first,
  allocated,
}: Pick<Content, 'first' | 'allocated'>): boolean {
  return allocated > blockLength(first)
}

export interface FoldedBlock {
  readonly index: number
  readonly block: BlockRef
}

/** Gives the first folded block with that number, 1 or above, or a higher one: a hole is passed in one step. */
export type BlockReader = (index: number) => FoldedBlock | undefined

export function writeContent(content: Content, extent: Extent): Content {
  return { ...content, extents: content.extents.write(extent) }
}

export function truncateContent(content: Content, size: number): Content {
  const extents = content.extents.truncate(size)
  if (content.foldedEnd <= size) return { ...content, extents }
  return { ...content, foldedEnd: size, isCut: true, extents }
}

/**
 * How many bytes a file takes. Exact once it is folded; before, what was written counts as it stands, and hides as
 * much of the folded blocks as it covers.
 */
export function allocatedBytes({ allocated, foldedEnd, extents }: Content): number {
  let visible = foldedEnd
  let written = 0
  for (let i = 0; i < extents.length; i++) {
    const { offset, length, source } = extents.at(i)
    visible -= Math.max(0, Math.min(offset + length, foldedEnd) - offset)
    if (source) written += length
  }
  return Math.min(allocated, visible) + written
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
  const foldedEnd = Math.min(end, content.foldedEnd)
  while (offset < end) {
    const found = blockFrom(content, blocks, Math.floor(offset / blockBytes))
    const start = found ? found.index * blockBytes : end
    const dataEnd = found ? Math.min(foldedEnd, start + blockLength(found.block)) : end
    if (found && dataEnd > Math.max(offset, start)) {
      if (start > offset) yield { offset, length: start - offset, source: undefined }
      yield blockExtent(found.block, start, Math.max(offset, start), dataEnd)
      offset = dataEnd
    } else {
      const stop = found ? Math.min(end, start + blockBytes) : end
      yield { offset, length: stop - offset, source: undefined }
      offset = stop
    }
  }
}

function blockFrom(content: Content, blocks: BlockReader, index: number): FoldedBlock | undefined {
  if (index === 0 && content.first) return { index, block: content.first }
  return blocks(Math.max(1, index))
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
