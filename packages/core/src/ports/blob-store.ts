import type { Hash } from '@cairn/protocol'

/** Content by the hash of what it holds, in the form BlobCodec gave it. Implementations only store. */
export interface BlobStore {
  /** Rejects with `blob_missing`. The caller does not change the bytes it gets. */
  get(id: Hash): Promise<Uint8Array>
  /** Resolves once all of them would survive a power cut. Putting a blob again succeeds. */
  put(blobs: ReadonlyMap<Hash, Uint8Array>): Promise<void>
}
