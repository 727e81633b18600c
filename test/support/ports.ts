import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import { Blobs, type ContentWorker, Nodes, type Stores } from '@cairn/core'
import {
  MemoryBlobStore,
  MemoryLogStore,
  MemoryNodeStore,
  MemoryRefStore,
  restlessPacer,
} from '@cairn/core/testing'
import type { Hash } from '@cairn/protocol'

/** The ports as a Node process has them. */

export function sha256(bytes: Uint8Array): Hash {
  return hash('sha256', bytes, 'binary') as Hash
}

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

const contentWorker: ContentWorker = {
  hash: async (bytes) => sha256(bytes),
  compress: (bytes) => compress(bytes),
  decompress: (bytes, length) => decompress(bytes, { maxOutputLength: Math.max(1, length) }),
}

/** Everything that would be on a disk. */
export class MemoryDisk {
  readonly nodes: MemoryNodeStore = new MemoryNodeStore()
  readonly blobs: MemoryBlobStore = new MemoryBlobStore()
  readonly log: MemoryLogStore = new MemoryLogStore()
  readonly refs: MemoryRefStore = new MemoryRefStore()

  /** With empty caches, as after a restart. `refs` may be given to read the same log from another fold. */
  open(refs: MemoryRefStore = this.refs): Stores {
    return {
      nodes: new Nodes({ store: this.nodes, hash: sha256, pacer: restlessPacer() }),
      blobs: new Blobs(this.blobs, contentWorker),
      log: this.log,
      refs,
    }
  }
}
