import { Blobs, Nodes, type Stores } from '@cairn/core'
import {
  MemoryBlobStore,
  MemoryLogStore,
  MemoryNodeStore,
  MemoryRefStore,
  restlessPacer,
} from '@cairn/core/testing'
import { contentWorker, sha256 } from '../ports/content-worker.ts'

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
