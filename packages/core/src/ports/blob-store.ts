import type { Hash } from '@cairn/protocol'

/**
 * Content by the hash of what it holds, in the form Blobs gave it. Implementations only store. Bytes are the
 * caller's, on the way in and on the way out: changing them afterwards changes nothing in the store.
 */
export interface BlobStore {
  /** Rejects with `blob_missing`, the id in hexadecimal as its subject. */
  get(id: Hash): Promise<Uint8Array>
  /**
   * Resolves once all of them would survive a power cut. Putting a blob again succeeds; the two may be stored
   * in different forms, and either may be kept.
   */
  put(blobs: ReadonlyMap<Hash, Uint8Array>): Promise<void>
  /**
   * Gives those that are stored. Nobody takes them away for as long as after a put: whoever is about to point at one
   * that others stored asks here first.
   */
  touch(ids: readonly Hash[]): Promise<ReadonlySet<Hash>>
}
