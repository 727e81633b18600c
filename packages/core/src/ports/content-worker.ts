import type { Hash } from '@cairn/protocol'

/** Hashing and compressing content. Asynchronous, so that an implementation may use workers. */
export interface ContentWorker {
  /** SHA-256. */
  hash(bytes: Uint8Array): Promise<Hash>
  /** zstd. */
  compress(bytes: Uint8Array): Promise<Uint8Array>
  /** Rejects when `bytes` is no zstd frame or holds more than `length` bytes. */
  decompress(bytes: Uint8Array, length: number): Promise<Uint8Array>
}
