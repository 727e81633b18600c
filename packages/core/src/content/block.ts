import type { Hash } from '@cairn/protocol'

/**
 * Content is cut at fixed offsets: a small write into a large file touches one block. 256 KiB compresses
 * nearly as well as 1 MiB (4.45 against 4.68 on source text) and makes that small write four times cheaper.
 */
export const blockBytes: number = 256 * 1024
/** Up to this many bytes stand in the tree itself. More would make nodes, and so each update, heavier. */
export const inlineBytesMax = 128
/** Block numbers have 32 bits. */
export const fileBytesMax: number = 2 ** 32 * blockBytes

/**
 * A block's bytes without the zeros at its end; what it does not cover reads as zeros. A block of zeros is
 * no block at all. So equal content has equal references, and growing a file changes none of them.
 */
export type BlockRef =
  | { readonly type: 'inline'; readonly bytes: Uint8Array }
  | { readonly type: 'blob'; readonly id: Hash; readonly length: number }

export function blockLength(block: BlockRef | undefined): number {
  if (!block) return 0
  return block.type === 'inline' ? block.bytes.length : block.length
}
