import type { Hash } from '@cairn/protocol'

/**
 * Tree nodes by hash. Implementations only store: hashing and checking happen above. Bytes are the caller's,
 * on the way in and on the way out: changing them afterwards changes nothing in the store.
 */
export interface NodeStore {
  /** Rejects with `node_missing`, the hash in hexadecimal as its subject. */
  get(hash: Hash): Promise<Uint8Array>
  /**
   * Resolves once all of them would survive a power cut. Putting a node again succeeds, because a retry
   * cannot know whether the first attempt arrived.
   */
  put(nodes: ReadonlyMap<Hash, Uint8Array>): Promise<void>
}
