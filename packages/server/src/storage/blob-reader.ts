import { CairnError, formatHash, type Hash, isCairnError } from '@cairn/protocol'
import { bytesOf, hashColumn, hashOf, numberOf, textOf } from './columns.ts'
import { poolKey } from './content-table.ts'
import type { Database, Row } from './database.ts'
import type { ObjectStore } from './object-store.ts'
import { groupHashes } from './touch-rows.ts'

/** Where a blob is in an object. Undefined `size`: it is the whole object, from before there were packs. */
interface Place {
  readonly id: Hash
  readonly key: string
  readonly at: number
  readonly size: number | undefined
}

/** A part of an object that is read at once, with the blobs in it. */
interface Stretch {
  readonly key: string
  readonly start: number
  end: number
  readonly places: Place[]
}

type Asked = ReadonlyMap<Hash, PromiseWithResolvers<Uint8Array>>

/** What lies between two blobs of a pack is read along if it is less than this. */
const gapBytesMax = 64 << 10
/** Larger parts are read in several requests at once, and no more than this is held for the sake of one block. */
const stretchBytesMax = 2 << 20

/**
 * Reads blobs by their hashes. What is asked for in one turn is found with one query, and neighbours in a pack are one
 * request: a file is stored in its order, so a reader of megabytes asks for few stretches.
 */
export class BlobReader {
  readonly #database: Database
  readonly #objects: ObjectStore
  readonly #name: string
  readonly #pool: Uint8Array
  #asked = new Map<Hash, PromiseWithResolvers<Uint8Array>>()

  constructor(database: Database, objects: ObjectStore, pool: string) {
    this.#database = database
    this.#objects = objects
    this.#name = pool
    this.#pool = poolKey(pool)
  }

  async read(id: Hash): Promise<Uint8Array> {
    try {
      return await this.#ask(id)
    } catch (error) {
      throw isCairnError(error, 'blob_missing') ? missing(id, error) : error
    }
  }

  #ask(id: Hash): Promise<Uint8Array> {
    if (this.#asked.size === 0) queueMicrotask(() => this.#answerAsked())
    const asked = this.#asked.get(id)
    // Bytes are the caller's: a second one gets its own.
    if (asked) return asked.promise.then((bytes) => bytes.slice())
    const answer = Promise.withResolvers<Uint8Array>()
    this.#asked.set(id, answer)
    return answer.promise
  }

  #answerAsked(): void {
    const asked = this.#asked
    this.#asked = new Map()
    for (const ids of groupHashes([...asked.keys()])) void this.#answer(ids, asked)
  }

  /** Never rejects: each of them gets its answer. */
  async #answer(ids: readonly Hash[], asked: Asked): Promise<void> {
    try {
      const rows = await this.#find(ids)
      const places: Place[] = []
      for (const id of ids) {
        const row = rows.get(id)
        if (row && row['bytes'] !== null) asked.get(id)!.resolve(bytesOf(row, 'bytes'))
        else places.push(row ? placeOf(id, row) : oldPlace(this.#name, id))
      }
      for (const stretch of stretchesOf(places)) void this.#answerFrom(stretch, asked)
    } catch (error) {
      for (const id of ids) asked.get(id)!.reject(error)
    }
  }

  async #answerFrom(stretch: Stretch, asked: Asked): Promise<void> {
    const { key, start, end, places } = stretch
    const isWhole = places[0]!.size === undefined
    try {
      const range = isWhole ? undefined : { start, length: end - start }
      const bytes = await this.#objects.get(key, range)
      for (const place of places) asked.get(place.id)!.resolve(partOf(bytes, stretch, place))
    } catch (error) {
      for (const { id } of places) asked.get(id)!.reject(error)
    }
  }

  async #find(ids: readonly Hash[]): Promise<ReadonlyMap<Hash, Row>> {
    const where = `pool = ? AND hash IN (${ids.map(() => '?').join(', ')})`
    const params = [this.#pool, ...ids.map(hashColumn)]
    const rows = await this.#database.query(
      `SELECT hash, NULL AS bytes, object_key AS place, 0 AS at, -1 AS size FROM blob_objects WHERE ${where} AND is_stored = 1
       UNION ALL SELECT hash, NULL, pack_key, at, size FROM packed_blobs WHERE ${where}
       UNION ALL SELECT hash, bytes, NULL, 0, 0 FROM blobs WHERE ${where}`,
      [...params, ...params, ...params],
    )
    return new Map(rows.map((row) => [hashOf(row, 'hash'), row]))
  }
}

function placeOf(id: Hash, row: Row): Place {
  const size = numberOf(row, 'size')
  return {
    id,
    key: textOf(row, 'place'),
    at: numberOf(row, 'at'),
    size: size < 0 ? undefined : size,
  }
}

/** Where a blob is that was stored before objects had rows. */
function oldPlace(pool: string, id: Hash): Place {
  const hex = formatHash(id)
  return { id, key: `blobs/${pool}/${hex.slice(0, 2)}/${hex}`, at: 0, size: undefined }
}

function stretchesOf(places: readonly Place[]): readonly Stretch[] {
  const stretches: Stretch[] = []
  const inOrder = places.toSorted((a, b) =>
    a.key === b.key ? a.at - b.at : a.key < b.key ? -1 : 1,
  )
  for (const place of inOrder) {
    const last = stretches.at(-1)
    const end = place.at + (place.size ?? 0)
    const isNear =
      last?.key === place.key &&
      place.at - last.end <= gapBytesMax &&
      end - last.start <= stretchBytesMax
    if (isNear) {
      last.places.push(place)
      last.end = Math.max(last.end, end)
    } else stretches.push({ key: place.key, start: place.at, end, places: [place] })
  }
  return stretches
}

/** Shorter where the object is damaged, which the blob's own length shows. */
function partOf(bytes: Uint8Array, { start }: Stretch, { at, size }: Place): Uint8Array {
  return size === undefined ? bytes : bytes.subarray(at - start, at - start + size)
}

function missing(id: Hash, cause: unknown): CairnError {
  const subject = formatHash(id)
  return new CairnError('blob_missing', {
    what: `read blob ${subject}`,
    reason: 'not stored',
    subject,
    cause,
  })
}
