import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import type { ContentWorker } from '@cairn/core'
import type { Hash } from '@cairn/protocol'

/** The core's ports as Node has them. */

export function sha256(bytes: Uint8Array): Hash {
  return hash('sha256', bytes, 'binary') as Hash
}

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** Hashing stays here (a block takes 0.15 ms); compressing goes to Node's thread pool. */
export const contentWorker: ContentWorker = {
  hash: async (bytes) => sha256(bytes),
  compress: (bytes) => compress(bytes),
  decompress: (bytes, length) => decompress(bytes, { maxOutputLength: Math.max(1, length) }),
}
