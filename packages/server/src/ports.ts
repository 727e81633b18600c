import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { zstdCompress, zstdCompressSync, zstdDecompress, zstdDecompressSync } from 'node:zlib'
import type { ContentWorker } from '@cairn/core'
import type { Hash } from '@cairn/protocol'

/** The core's ports as Node has them. */

export function sha256(bytes: Uint8Array): Hash {
  return hash('sha256', bytes, 'binary') as Hash
}

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/**
 * Up to here compressing stays here as well: it takes some 50 µs, and handing it to another thread ten times that,
 * most of it for tables of megabytes that are made for input of an unknown size.
 */
const smallBytes = 16 << 10

/** Hashing stays here (a block takes 0.15 ms); compressing what is large goes to Node's thread pool. */
export const contentWorker: ContentWorker = {
  hash: async (bytes) => sha256(bytes),
  compress: async (bytes) =>
    bytes.length <= smallBytes
      ? zstdCompressSync(bytes, { pledgedSrcSize: bytes.length, chunkSize: 1024 + bytes.length })
      : compress(bytes),
  decompress: async (bytes, length) => {
    const maxOutputLength = Math.max(1, length)
    return length <= smallBytes
      ? zstdDecompressSync(bytes, { maxOutputLength, chunkSize: Math.max(64, length) })
      : decompress(bytes, { maxOutputLength })
  },
}
