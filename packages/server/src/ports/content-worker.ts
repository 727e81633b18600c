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

/** Up to here compressing stays here as well: it takes some 150 µs, and handing it to another thread three times that. */
const smallBytes = 32 << 10

/** Hashing stays here (a block takes 0.15 ms); compressing what is large goes to Node's thread pool. */
export const contentWorker: ContentWorker = {
  hash: async (bytes) => sha256(bytes),
  compress: async (bytes) => {
    // For input of an unknown size it would make tables of megabytes, which takes longer than compressing.
    const options = { pledgedSrcSize: bytes.length, chunkSize: 1024 + bytes.length }
    return bytes.length <= smallBytes ? zstdCompressSync(bytes, options) : compress(bytes, options)
  },
  decompress: async (bytes, length) => {
    const maxOutputLength = Math.max(1, length)
    return length <= smallBytes
      ? zstdDecompressSync(bytes, { maxOutputLength, chunkSize: Math.max(64, length) })
      : decompress(bytes, { maxOutputLength })
  },
}
