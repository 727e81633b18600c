import { CairnError, formatHash, type Hash, Reader, Writer } from '@cairn/protocol'
import type { BlobStore } from '../ports/blob-store.ts'
import type { ContentWorker } from '../ports/content-worker.ts'
import { blockBytes } from './block.ts'

const forms = { raw: 0, zstd: 1 } as const
/** A blob is at most one block, so a file's blocks can be blobs as they are. */
export const blobBytesMax: number = blockBytes

export interface SealedBlob {
  readonly id: Hash
  /** What the store keeps: a form byte, the length, and the bytes, compressed where it pays. */
  readonly stored: Uint8Array
}

/** Content in, content out: sealing, storing and checking in one place. */
export class Blobs {
  readonly #store: BlobStore
  readonly #worker: ContentWorker

  constructor(store: BlobStore, worker: ContentWorker) {
    this.#store = store
    this.#worker = worker
  }

  async seal(bytes: Uint8Array): Promise<SealedBlob> {
    if (bytes.length > blobBytesMax) throw new Error(`a blob takes at most ${blobBytesMax} bytes`)
    const [id, compressed] = await Promise.all([
      this.#worker.hash(bytes),
      this.#worker.compress(bytes),
    ])
    // Below a sixteenth saved, reading it plainly is worth more than the room.
    const pays = compressed.length < bytes.length - bytes.length / 16
    const writer = new Writer(bytes.length + 8).u8(pays ? forms.zstd : forms.raw)
    return {
      id,
      stored: writer
        .varint(bytes.length)
        .raw(pays ? compressed : bytes)
        .finish(),
    }
  }

  async store(blobs: Iterable<SealedBlob>): Promise<void> {
    const map = new Map<Hash, Uint8Array>()
    for (const { id, stored } of blobs) map.set(id, stored)
    if (map.size > 0) await this.#store.put(map)
  }

  /** Rejects with `blob_missing`, or with `corrupt` when the stored bytes are not the ones of that id. */
  async read(id: Hash): Promise<Uint8Array> {
    const stored = await this.#store.get(id)
    try {
      const bytes = await this.#open(stored)
      if ((await this.#worker.hash(bytes)) === id) return bytes
    } catch (cause) {
      throw corrupt(id, cause)
    }
    throw corrupt(id, undefined)
  }

  async #open(stored: Uint8Array): Promise<Uint8Array> {
    const reader = new Reader(stored, 'blob')
    const form = reader.u8()
    const length = reader.varint()
    if (length > blobBytesMax) throw reader.malformed(`a length of ${length}`)
    const payload = reader.raw(reader.remaining)
    if (form === forms.raw) return payload
    if (form === forms.zstd) return this.#worker.decompress(payload, length)
    throw reader.malformed(`form ${form}`)
  }
}

function corrupt(id: Hash, cause: unknown): CairnError {
  const subject = formatHash(id)
  return new CairnError('corrupt', {
    message: `cannot read blob ${subject}: its bytes have another hash`,
    subject,
    cause,
  })
}
