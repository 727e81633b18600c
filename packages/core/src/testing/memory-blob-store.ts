import { CairnError, formatHash, type Hash } from '@cairn/protocol'
import type { BlobStore } from '../ports/blob-store.ts'

export class MemoryBlobStore implements BlobStore {
  /** Open to tests that damage or count what is stored. */
  readonly blobs: Map<Hash, Uint8Array> = new Map()

  async get(id: Hash): Promise<Uint8Array> {
    const bytes = this.blobs.get(id)
    if (bytes) return bytes.slice()
    const subject = formatHash(id)
    throw new CairnError('blob_missing', {
      message: `cannot read blob ${subject}: not stored`,
      subject,
    })
  }

  async put(blobs: ReadonlyMap<Hash, Uint8Array>): Promise<void> {
    for (const [id, bytes] of blobs) this.blobs.set(id, bytes.slice())
  }

  async touch(ids: readonly Hash[]): Promise<ReadonlySet<Hash>> {
    return new Set(ids.filter((id) => this.blobs.has(id)))
  }
}
