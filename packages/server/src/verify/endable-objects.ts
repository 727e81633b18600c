import type { ObjectRange, ObjectInfo, ObjectStore } from '../storage/object-store.ts'

/** A store that a case which was given up can no longer write to: what is deleted afterwards stays deleted. */
export class EndableObjects implements ObjectStore {
  readonly #store: ObjectStore
  readonly #puts = new Set<Promise<void>>()
  #isOver = false

  constructor(store: ObjectStore) {
    this.#store = store
  }

  async put(key: string, ...parts: readonly Uint8Array[]): Promise<void> {
    if (this.#isOver) throw new Error(`cannot store ${key}: the check is over`)
    const put = this.#store.put(key, ...parts)
    this.#puts.add(put)
    try {
      await put
    } finally {
      this.#puts.delete(put)
    }
  }

  get(key: string, range?: ObjectRange): Promise<Uint8Array> {
    return this.#store.get(key, range)
  }

  delete(key: string): Promise<void> {
    return this.#store.delete(key)
  }

  list(prefix: string, after?: string): AsyncIterable<ObjectInfo> {
    return this.#store.list(prefix, after)
  }

  /** Waits for what is being written. */
  async close(): Promise<void> {
    this.#isOver = true
    await Promise.allSettled(this.#puts)
  }
}
