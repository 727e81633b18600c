import type { Hash } from '@cairn/protocol'

/** Tree nodes by hash. Implementations only store: hashing and checking happen above. */
export interface NodeStore {
  /** Rejects with `node_missing`. The caller does not change the bytes it gets. */
  get(hash: Hash): Promise<Uint8Array>
  /**
   * Resolves once all of them would survive a power cut. Putting a node again succeeds, because a retry
   * cannot know whether the first attempt arrived.
   */
  put(nodes: ReadonlyMap<Hash, Uint8Array>): Promise<void>
}
