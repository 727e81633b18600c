import type { Hash } from '@cairn/protocol'
import type { BlobDraft, BlobStore } from '../ports/blob-store.ts'
import type { NodeStore } from '../ports/node-store.ts'

/** Reads from a store, and keeps writes in memory: for work whose result is thrown away. */
export class ScratchStore implements NodeStore, BlobStore {
  readonly #below: Pick<NodeStore, 'get'>
  readonly #put = new Map<Hash, Uint8Array>()

  constructor(below: Pick<NodeStore, 'get'>) {
    this.#below = below
  }

  async get(hash: Hash): Promise<Uint8Array> {
    return this.#put.get(hash) ?? this.#below.get(hash)
  }

  async put(things: ReadonlyMap<Hash, Uint8Array>): Promise<void> {
    for (const [hash, bytes] of things) this.#put.set(hash, bytes)
  }

  async touch(hashes: readonly Hash[]): Promise<ReadonlySet<Hash>> {
    return new Set(hashes.filter((hash) => this.#put.has(hash)))
  }

  /** All of it is thrown away in the end. */
  draft(): BlobDraft {
    return { put: (things) => this.put(things), keep: async () => {}, drop: async () => {} }
  }
}
