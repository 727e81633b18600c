import { type BlockRef, blockBytes, blockLength } from './block.ts'
import { type BlockReader, type Content, extentsOf, hasFurtherBlocks } from './content.ts'
import type { Extent } from './extents.ts'
import { withoutTrailingZeros } from './fold-content.ts'

/** More are left to the fold, which goes through them anyway. */
const blocksMax = 1000

const noBlocks: BlockReader = () => undefined

/** How many bytes a file takes once it is folded. */
export interface FoldedLength {
  readonly bytes: number
  /** False where only a fold can tell, because the end of a stored blob was cut off: `bytes` is the most it can be. */
  readonly isExact: boolean
}

/**
 * What a fold would make of the content, from its extents alone. So a file shows the same number of blocks before and
 * after it is folded. Synchronous, as reading the tree is.
 */
export function foldedLength(content: Content, size: number, blocks: BlockReader): FoldedLength {
  const { allocated, extents, isCut } = content
  if (extents.length === 0 && !isCut) return { bytes: allocated, isExact: true }
  const reader = hasFurtherBlocks(content) ? blocks : noBlocks
  const touched = touchedBlocks(content, size, reader)
  if (!touched) return { bytes: size, isExact: false }
  let bytes = allocated
  let isExact = true
  for (const [index, before] of touched) {
    const start = index * blockBytes
    const after = endOfData(content, reader, start, Math.min(start + blockBytes, size))
    bytes += after.end - start - blockLength(before)
    isExact &&= after.isExact
  }
  return { bytes, isExact }
}

/** By number, as they were folded. Undefined where there are too many. */
function touchedBlocks(
  content: Content,
  size: number,
  blocks: BlockReader,
): ReadonlyMap<number, BlockRef | undefined> | undefined {
  const touched = new Map<number, BlockRef | undefined>()
  if (content.first) touched.set(0, content.first)
  if (content.isCut && !addFolded(Math.floor(content.foldedEnd / blockBytes), Infinity))
    return undefined
  for (let i = 0; i < content.extents.length; i++) {
    const { offset, length, source } = content.extents.at(i)
    const first = Math.floor(offset / blockBytes)
    const last = Math.floor((Math.min(offset + length, size) - 1) / blockBytes)
    if (source)
      for (let index = first; index <= last; index++)
        if (!touched.has(index)) touched.set(index, undefined)
    if (touched.size > blocksMax || !addFolded(first, last)) return undefined
  }
  return touched

  function addFolded(from: number, to: number): boolean {
    for (let index = Math.max(1, from); index <= to; index++) {
      const found = blocks(index)
      if (!found || found.index > to) return true
      touched.set(found.index, found.block)
      if (touched.size > blocksMax) return false
      index = found.index
    }
    return true
  }
}

/** Behind the last byte of a block that is not zero. */
function endOfData(
  content: Content,
  blocks: BlockReader,
  start: number,
  end: number,
): { readonly end: number; readonly isExact: boolean } {
  if (end > start)
    for (const extent of [...extentsOf(content, blocks, start, end)].reverse()) {
      const length = lengthOfData(extent)
      if (length > 0) return { end: extent.offset + length, isExact: !isCutOff(extent) }
    }
  return { end: start, isExact: true }
}

function lengthOfData({ length, source }: Extent): number {
  if (!source) return 0
  return source.type === 'bytes' ? withoutTrailingZeros(source.bytes).length : length
}

/** Writers store no zeros at the end of a blob, and there may be some anywhere else in it. */
function isCutOff({ length, source }: Extent): boolean {
  return source?.type === 'blob' && source.start + length < source.blobLength
}
