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
   * Returns those that are stored. They stay for as long as after a put: ask here before you point
   * at a blob that another client stored.
   */
  touch(ids: readonly Hash[]): Promise<ReadonlySet<Hash>>
  /** Begins blobs that may come to nothing. `nowMs` tells the time of day. */
  draft(nowMs: () => number): BlobDraft
}

/** Blobs of which it is not known yet whether anything will point at them, such as those of an upload under way. */
export interface BlobDraft {
  /** As that of the store. Others find these blobs, and may point at them. */
  put(blobs: ReadonlyMap<Hash, Uint8Array>): Promise<void>
  /** Something points at them: from now on they are like all others. Again is fine. */
  keep(): Promise<void>
  /**
   * Nothing of this draft points at them, and nothing will. Takes away at once those that it stored first and that
   * no client has put or touched since; the others are for the collector. Nothing may be put afterwards.
   */
  drop(): Promise<void>
}
