import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import type { Hash } from '@cairn/protocol'
import { Blobs } from '../src/content/blobs.ts'
import type { ContentWorker } from '../src/ports/content-worker.ts'
import { MemoryBlobStore } from '../src/testing/memory-blob-store.ts'
import { MemoryLogStore } from '../src/testing/memory-log-store.ts'
import { MemoryNodeStore } from '../src/testing/memory-node-store.ts'
import { MemoryRefStore } from '../src/testing/memory-ref-store.ts'
import { Nodes } from '../src/tree/nodes.ts'

/** The ports as a Node process has them, for tests and benchmarks. */

export function sha256(bytes: Uint8Array): Hash {
  return hash('sha256', bytes, 'binary') as Hash
}

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

export const contentWorker: ContentWorker = {
  hash: async (bytes) => sha256(bytes),
  compress: (bytes) => compress(bytes),
  decompress: (bytes, length) => decompress(bytes, { maxOutputLength: Math.max(1, length) }),
}

/** Stores in memory, with their insides open to tests that damage or count them. */
export class MemoryStores {
  readonly nodeStore: MemoryNodeStore = new MemoryNodeStore()
  readonly blobStore: MemoryBlobStore = new MemoryBlobStore()
  readonly log: MemoryLogStore = new MemoryLogStore()
  readonly refs: MemoryRefStore = new MemoryRefStore()
  readonly nodes: Nodes = new Nodes({ store: this.nodeStore, hash: sha256 })
  readonly blobs: Blobs = new Blobs(this.blobStore, contentWorker)
}
