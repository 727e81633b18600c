import { type BlockRef, blockBytes, blockLength, inlineBytesMax } from './block.ts'
import type { Blobs, SealedBlob } from './blobs.ts'
import { assemble } from './assemble.ts'
import { type BlockReader, type Content, extentsOf } from './content.ts'
import { type Extent, Extents } from './extents.ts'

/** A file's content as the tree has it now. */
export interface FoldedBlocks {
  readonly size: number
  readonly first: BlockRef | undefined
  readonly allocated: number
  readonly blockFrom: BlockReader
  /** Numbers of the blocks from `index` (1 or above) on. */
  readonly indexesFrom: (index: number) => Iterable<number>
}

export interface PlannedBlock {
  readonly index: number
  readonly before: BlockRef | undefined
  /** All of the block's bytes as they are now. */
  readonly extents: readonly Extent[]
}

export interface FoldedContent {
  readonly content: Content
  /** Blocks numbered 1 and above that changed; undefined where one is gone. */
  readonly blocks: ReadonlyMap<number, BlockRef | undefined>
  /** To be stored before the references are. */
  readonly sealed: readonly SealedBlob[]
}

/** Which blocks a write or a cut touched since the last fold. Synchronous, as reading the tree is. */
export function planBlocks(
  content: Content,
  size: number,
  folded: FoldedBlocks,
): readonly PlannedBlock[] {
  return touchedBlocks(content, size, folded).map((index) => {
    const start = index * blockBytes
    const end = Math.min(start + blockBytes, size)
    return {
      index,
      before: blockAt(folded, index),
      extents: [...extentsOf(content, folded.blockFrom, start, end)],
    }
  })
}

function blockAt({ first, blockFrom }: FoldedBlocks, index: number): BlockRef | undefined {
  if (index === 0) return first
  const found = blockFrom(index)
  return found?.index === index ? found.block : undefined
}

/** Makes the planned blocks. The result depends on the file's bytes alone, not on how they came. */
export async function foldContent(
  size: number,
  folded: Pick<FoldedBlocks, 'first' | 'allocated'>,
  plan: readonly PlannedBlock[],
  blobs: Blobs,
): Promise<FoldedContent> {
  const blocks = new Map<number, BlockRef | undefined>()
  const sealed: SealedBlob[] = []
  let { first, allocated } = folded
  for (const { index, before, extents } of plan) {
    const block = await foldBlock(extents, blobs, sealed)
    allocated += blockLength(block) - blockLength(before)
    if (index === 0) first = block
    else blocks.set(index, block)
  }
  return { content: { first, allocated, foldedEnd: size, extents: Extents.none }, blocks, sealed }
}

function touchedBlocks(content: Content, size: number, folded: FoldedBlocks): readonly number[] {
  const touched = new Set<number>()
  for (let i = 0; i < content.extents.length; i++) {
    const { offset, length, source } = content.extents.at(i)
    const first = Math.floor(offset / blockBytes)
    const last = Math.floor((Math.min(offset + length, size) - 1) / blockBytes)
    if (source) for (let index = first; index <= last; index++) touched.add(index)
    else for (const index of foldedIndexes(folded, first, last)) touched.add(index)
  }
  if (content.foldedEnd < folded.size) {
    const cut = Math.floor(content.foldedEnd / blockBytes)
    touched.add(cut)
    for (const index of folded.indexesFrom(Math.max(1, cut))) touched.add(index)
  }
  return [...touched].sort((a, b) => a - b)
}

/** A hole may be as long as a file: only the blocks that are there can be touched by it. */
function* foldedIndexes(folded: FoldedBlocks, first: number, last: number): Generator<number> {
  if (first === 0) yield 0
  for (const index of folded.indexesFrom(Math.max(1, first))) if (index <= last) yield index
}

async function foldBlock(
  extents: readonly Extent[],
  blobs: Blobs,
  sealed: SealedBlob[],
): Promise<BlockRef | undefined> {
  const whole = wholeBlob(extents)
  if (whole) return whole
  if (extents.every(({ source }) => !source)) return undefined
  const bytes = withoutTrailingZeros(await assemble(extents, blobs))
  if (bytes.length === 0) return undefined
  if (bytes.length <= inlineBytesMax) return { type: 'inline', bytes }
  const blob = await blobs.seal(bytes)
  sealed.push(blob)
  return { type: 'blob', id: blob.id, length: bytes.length }
}

/** The block is exactly one blob: nothing to read, nothing to hash. Writers cut off trailing zeros. */
function wholeBlob(extents: readonly Extent[]): BlockRef | undefined {
  const [data, ...rest] = extents
  if (data?.source?.type !== 'blob' || rest.some(({ source }) => source)) return undefined
  const { id, start, blobLength } = data.source
  if (start !== 0 || data.length !== blobLength || blobLength <= inlineBytesMax) return undefined
  return { type: 'blob', id, length: blobLength }
}

export function withoutTrailingZeros(bytes: Uint8Array): Uint8Array {
  let length = bytes.length
  while (length > 0 && bytes[length - 1] === 0) length--
  return bytes.subarray(0, length)
}
