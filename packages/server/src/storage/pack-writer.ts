import { type Hash, isCairnError } from '@cairn/protocol'
import type { DraftMark } from './draft-mark.ts'
import type { ObjectStore } from './object-store.ts'
import type { PackedBlob, PackTable } from './pack-table.ts'

/** A pack is one request to S3, and one file with one sync on a disk. */
export const packBytesMax: number = 8 << 20
/**
 * Packs on their way at once. What comes meanwhile waits and goes together: the slower the store, the larger the packs.
 * Four of them keep a store busy that answers after 30 ms.
 */
const packsAtOnce = 4
/** So many keys are asked for at once: a transaction for each pack would be another wait for the disk. */
const keysAtOnce = 8
/** A collector takes back keys that were not used for a day. */
const keysForMs = 10 * 60 * 1000

interface Waiting {
  readonly id: Hash
  readonly bytes: Uint8Array
  mark: DraftMark | undefined
  readonly stored: PromiseWithResolvers<void>
}

/** Puts blobs together, writes them, and notes where each is. */
export class PackWriter {
  readonly #table: PackTable
  readonly #objects: ObjectStore
  /** What has not been noted in the table yet, by its hash: a second client waits for the first one's. */
  readonly #underWay = new Map<Hash, Waiting>()
  #queue: Waiting[] = []
  #carriers = 0
  #keys: { readonly list: string[]; readonly givenMs: number } = { list: [], givenMs: -Infinity }
  #giving: Promise<unknown> = Promise.resolve()

  constructor(table: PackTable, objects: ObjectStore) {
    this.#table = table
    this.#objects = objects
  }

  /** Resolves once all of them would survive a power cut, and are found by their hashes. */
  async put(blobs: ReadonlyMap<Hash, Uint8Array>, mark: DraftMark | undefined): Promise<void> {
    const waiting = [...blobs].map(([id, bytes]) => this.#enqueue(id, bytes, mark))
    while (this.#carriers < packsAtOnce && this.#queue.length > 0) void this.#carry()
    await Promise.all(waiting.map(({ stored }) => stored.promise))
  }

  #enqueue(id: Hash, bytes: Uint8Array, mark: DraftMark | undefined): Waiting {
    const earlier = this.#underWay.get(id)
    if (earlier) {
      // What two ask for is no draft's alone.
      earlier.mark = undefined
      return earlier
    }
    const waiting = { id, bytes, mark, stored: Promise.withResolvers<void>() }
    // Each caller waits for its own, and may have given up by then.
    waiting.stored.promise.catch(() => undefined)
    this.#underWay.set(id, waiting)
    this.#queue.push(waiting)
    return waiting
  }

  async #carry(): Promise<void> {
    this.#carriers++
    for (;;) {
      const group = this.#take()
      if (group.length === 0) break
      try {
        await this.#write(group)
        for (const { stored } of group) stored.resolve()
      } catch (error) {
        for (const { stored } of group) stored.reject(error)
      } finally {
        for (const each of group) this.#end(each)
      }
    }
    this.#carriers--
  }

  #take(): readonly Waiting[] {
    let [bytes, count] = [0, 0]
    for (const { bytes: next } of this.#queue) {
      bytes += next.length
      if (count > 0 && bytes > packBytesMax) break
      count++
    }
    return this.#queue.splice(0, count)
  }

  #end(waiting: Waiting): void {
    if (this.#underWay.get(waiting.id) === waiting) this.#underWay.delete(waiting.id)
  }

  async #write(group: readonly Waiting[]): Promise<void> {
    for (;;) {
      const key = await this.#takeKey()
      await this.#objects.put(key, ...group.map(({ bytes }) => bytes))
      // Who asks for them from here on has a mark of its own to clear.
      for (const each of group) this.#end(each)
      if (await this.#settle(key, group)) return
      // This process was asleep for a day, and a collector took the key back.
    }
    // DURABLE: the pack is stored, and the rows that find its blobs.
  }

  /** Where the database has no room for the rows, none names the object, and its bytes may be the room that is missing. */
  async #settle(key: string, group: readonly Waiting[]): Promise<boolean> {
    try {
      return await this.#table.settle(key, sizeOf(group), placesOf(group))
    } catch (error) {
      if (isCairnError(error, 'storage_full'))
        await this.#objects.delete(key).catch(() => undefined)
      throw error
    }
  }

  /** One caller asks the database, the others wait for it. */
  async #takeKey(): Promise<string> {
    for (;;) {
      const { list, givenMs } = this.#keys
      const key = performance.now() - givenMs < keysForMs ? list.pop() : undefined
      if (key !== undefined) return key
      const before = this.#keys
      const giving = this.#giving
        .catch(() => undefined)
        .then(async () => {
          if (this.#keys !== before) return
          this.#keys = {
            list: [...(await this.#table.giveKeys(keysAtOnce))],
            givenMs: performance.now(),
          }
        })
      this.#giving = giving
      await giving
    }
  }
}

function sizeOf(group: readonly Waiting[]): number {
  return group.reduce((sum, { bytes }) => sum + bytes.length, 0)
}

function placesOf(group: readonly Waiting[]): PackedBlob[] {
  let next = 0
  return group.map(({ id, bytes: { length: size }, mark }) => {
    const at = next
    next += size
    return { id, at, size, mark }
  })
}
