import type { BlobStore } from '@cairn/core'
import { CairnError, formatHash, type Hash, isCairnError } from '@cairn/protocol'
import { ContentTable } from './content-table.ts'
import type { Database } from './database.ts'
import type { ObjectStore } from './object-store.ts'

/**
 * Up to here a blob goes into SQL, where many of them cost one transaction. Beyond, a request of its own is cheap
 * beside moving its bytes.
 */
const sqlBytesMax = 64 << 10
/** Objects on their way at once: enough to hide a store's latency, few enough to leave it to others. */
const objectsAtOnce = 16

/** The blobs of one pool: small ones in SQL, large ones in the object store. */
export class PlacedBlobs implements BlobStore {
  readonly #small: ContentTable
  readonly #objects: ObjectStore
  readonly #pool: string

  constructor(database: Database, objects: ObjectStore, pool: string) {
    this.#small = new ContentTable(database, 'blobs', pool)
    this.#objects = objects
    this.#pool = pool
  }

  async get(id: Hash): Promise<Uint8Array> {
    // Asking SQL first costs a tenth of what asking the object store in vain does.
    const small = await this.#small.find(id)
    if (small) return small
    try {
      return await this.#objects.get(blobKey(this.#pool, id))
    } catch (error) {
      throw isCairnError(error, 'blob_missing') ? missing(id, error) : error
    }
  }

  async put(blobs: ReadonlyMap<Hash, Uint8Array>): Promise<void> {
    const all = [...blobs]
    const large = all.filter(([, { length }]) => length > sqlBytesMax)
    const small = all.filter(([, { length }]) => length <= sqlBytesMax)
    await Promise.all([this.#small.put(new Map(small)), this.#putObjects(large)])
    // DURABLE: database and object store have all of them on disk; a tree may point at them.
  }

  /** A fixed number of carriers, each taking the next one. */
  async #putObjects(blobs: readonly (readonly [Hash, Uint8Array])[]): Promise<void> {
    const queue = blobs.values()
    const carry = async (): Promise<void> => {
      for (const [id, bytes] of queue) await this.#objects.put(blobKey(this.#pool, id), bytes)
    }
    await Promise.all(Array.from({ length: Math.min(objectsAtOnce, blobs.length) }, carry))
  }
}

/** Two digits make 256 directories on disk, which stay fast with millions of blobs. */
export function blobKey(pool: string, id: Hash): string {
  const hex = formatHash(id)
  return `${blobPrefix(pool)}${hex.slice(0, 2)}/${hex}`
}

/** Where all blobs of a pool are. */
export function blobPrefix(pool: string): string {
  return `blobs/${pool}/`
}

function missing(id: Hash, cause: unknown): CairnError {
  const subject = formatHash(id)
  return new CairnError('blob_missing', {
    message: `cannot read blob ${subject}: not stored`,
    subject,
    cause,
  })
}
