import type { BlobDraft } from '@cairn/core'
import { type Hash, isCairnError } from '@cairn/protocol'

/** What a draft does in the store, all of it under one mark. */
interface DraftPlace {
  put(blobs: ReadonlyMap<Hash, Uint8Array>): Promise<void>
  keep(ids: readonly Hash[]): Promise<void>
  drop(ids: readonly Hash[]): Promise<void>
}

/** Remembers what was put, and how that ended. */
export class PlacedDraft implements BlobDraft {
  readonly #place: DraftPlace
  readonly #puts = new Map<Hash, Promise<void>>()

  constructor(place: DraftPlace) {
    this.#place = place
  }

  /** Each blob once: the store would take a second put for that of another writer. */
  async put(blobs: ReadonlyMap<Hash, Uint8Array>): Promise<void> {
    const fresh = new Map([...blobs].filter(([id]) => !this.#puts.has(id)))
    if (fresh.size > 0) {
      const put = this.#place.put(fresh)
      for (const id of fresh.keys()) this.#puts.set(id, put)
    }
    await Promise.all([...blobs.keys()].map((id) => this.#puts.get(id)!))
  }

  keep(): Promise<void> {
    return this.#place.keep([...this.#puts.keys()])
  }

  async drop(): Promise<void> {
    const ended = await Promise.all(
      [...this.#puts].map(async ([id, put]) => ((await isOver(put)) ? [id] : [])),
    )
    await this.#place.drop(ended.flat())
  }
}

/** A store that did not answer may still be storing: then the object would come after its row has gone. */
async function isOver(put: Promise<void>): Promise<boolean> {
  try {
    await put
    return true
  } catch (error) {
    return isCairnError(error, 'storage_full')
  }
}
