import { CairnError, formatHash, type Hash } from '@cairn/protocol'
import type { BlobDraft, BlobStore } from '../ports/blob-store.ts'

export class MemoryBlobStore implements BlobStore {
  /** Open to tests that damage or count what is stored. */
  readonly blobs: Map<Hash, Uint8Array> = new Map()
  /** Those that a draft stored first and no other client has used. */
  readonly #drafts = new Map<Hash, BlobDraft>()

  async get(id: Hash): Promise<Uint8Array> {
    const bytes = this.blobs.get(id)
    if (bytes) return bytes.slice()
    const subject = formatHash(id)
    throw new CairnError('blob_missing', {
      what: `read blob ${subject}`,
      reason: 'not stored',
      subject,
    })
  }

  async put(blobs: ReadonlyMap<Hash, Uint8Array>): Promise<void> {
    for (const [id, bytes] of blobs) {
      this.#drafts.delete(id)
      this.blobs.set(id, bytes.slice())
    }
  }

  async touch(ids: readonly Hash[]): Promise<ReadonlySet<Hash>> {
    for (const id of ids) this.#drafts.delete(id)
    return new Set(ids.filter((id) => this.blobs.has(id)))
  }

  draft(): BlobDraft {
    const own = (): Hash[] =>
      [...this.#drafts.keys()].filter((id) => this.#drafts.get(id) === draft)
    const draft: BlobDraft = {
      put: async (blobs) => {
        for (const [id, bytes] of blobs) {
          if (!this.blobs.has(id)) this.#drafts.set(id, draft)
          else if (this.#drafts.get(id) !== draft) this.#drafts.delete(id)
          this.blobs.set(id, bytes.slice())
        }
      },
      keep: async () => {
        for (const id of own()) this.#drafts.delete(id)
      },
      drop: async () => {
        for (const id of own()) {
          this.#drafts.delete(id)
          this.blobs.delete(id)
        }
      },
    }
    return draft
  }
}
