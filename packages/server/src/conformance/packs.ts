import {
  casesOf,
  expect,
  expectCode,
  rejectionOf,
  type StoreCase,
  uniqueHash,
} from '@cairn/core/conformance'
import { formatHash, type Hash } from '@cairn/protocol'
import { hashColumn, keyBytes } from '../storage/columns.ts'
import { poolKey } from '../storage/content-table.ts'
import type { Database } from '../storage/database.ts'
import type { ObjectStore } from '../storage/object-store.ts'
import { PackCompactor } from '../storage/pack-compactor.ts'
import { PlacedBlobs } from '../storage/placed-blobs.ts'
import { SurveyTable } from '../storage/survey-table.ts'
import { MemoryObjectStore } from './memory-object-store.ts'

const blobBytes = 100_000

/** Blobs that share objects: how they are put together, found, moved and deleted. */
export const packCases: readonly StoreCase<Database>[] = casesOf((test) => {
  test('blobs that are put together are one object, and each is found', async (database) => {
    const place = new PackPlace(database)
    const blobs = await place.put(20)
    expect(place.objects.objects.size).toBe(1)
    await place.expectAll(blobs)
  })

  test('neighbours are read with few requests', async (database) => {
    const place = new PackPlace(database)
    const blobs = await place.put(20)
    await place.expectAll(blobs)
    // 2 MB in stretches of at most 2 MiB.
    expect(place.objects.reads).toBe(1)
  })

  test('a pack goes with the last of its blobs', async (database) => {
    const place = new PackPlace(database)
    const blobs = await place.put(3)
    const [first, ...others] = blobs.keys()
    await place.remove([first!])
    expect(place.objects.objects.size).toBe(1)
    await place.remove(others)
    expect(place.objects.objects.size).toBe(0)
    expect(await place.countRows()).toEqual({ packs: 0, blobs: 0 })
  })

  test('a sparse pack is rewritten: what is left is found, and takes no more than it needs', async (database) => {
    const place = new PackPlace(database)
    const blobs = await place.put(20)
    const left = await place.removeAllBut(blobs, 4)
    await place.compact()
    expect(place.objects.totalBytes).toBe(4 * blobBytes)
    await place.expectAll(left)
    for (const id of blobs.keys())
      if (!left.has(id)) await expectCode(place.blobs.get(id), 'blob_missing', formatHash(id))
  })

  test('a pack that is more than half in use stays as it is', async (database) => {
    const place = new PackPlace(database)
    const left = await place.removeAllBut(await place.put(10), 6)
    const before = [...place.objects.objects.keys()]
    await place.compact()
    expect([...place.objects.objects.keys()]).toEqual(before)
    await place.expectAll(left)
  })

  test('many small packs become few large ones', async (database) => {
    const place = new PackPlace(database)
    const blobs = new Map<Hash, Uint8Array>()
    for (let i = 0; i < 100; i++) for (const each of await place.put(1)) blobs.set(...each)
    expect(place.objects.objects.size).toBe(100)
    await place.compact()
    // 10 MB: one pack is full, and the rest waits for more.
    expect(place.objects.objects.size < 60).toBe(true)
    await place.expectAll(blobs)
    expect(place.objects.totalBytes).toBe(100 * blobBytes)
  })

  test('an emptied pack stays for a grace time, for readers that found blobs in it before', async (database) => {
    const place = new PackPlace(database)
    const left = await place.removeAllBut(await place.put(20), 5)
    const found = place.objects.objects.keys().next().value!
    await place.compactor.compact(place.pool)
    await place.compactor.dropUnused(1000, 900)
    await place.compactor.dropUnused(1099, 999)
    expect(place.objects.objects.has(found)).toBe(true)
    await place.compactor.dropUnused(1100, 1000)
    expect(place.objects.objects.has(found)).toBe(false)
    await place.expectAll(left)
  })

  test('two compactors at once, beside a remover and a writer, lose nothing', async (database) => {
    const place = new PackPlace(database)
    const left = await place.removeAllBut(await place.put(40), 12)
    const [gone] = left.keys()
    const [, , , added] = await Promise.all([
      place.compact(),
      place.compact(),
      place.remove([gone!]),
      place.put(3),
    ])
    left.delete(gone!)
    await place.expectAll(new Map([...left, ...added]))
    for (let i = 0; i < 2; i++) await place.compact()
    await place.expectAll(new Map([...left, ...added]))
    const needed = (left.size + 3) * blobBytes
    expect(place.objects.totalBytes <= 2 * needed).toBe(true)
  })

  test('a blob that two packs have is found in one, and the other is rewritten', async (database) => {
    const place = new PackPlace(database)
    const other = new PlacedBlobs(database, place.objects, place.pool)
    const blobs = blobsOf(20)
    // Two servers that do not know of each other.
    await Promise.all([place.blobs.put(blobs), other.put(blobs)])
    await place.expectAll(blobs)
    await place.compact()
    expect(place.objects.totalBytes).toBe(20 * blobBytes)
    await place.expectAll(blobs)
  })

  test('a pack that its writer did not live to finish goes, a grace time after a run met it', async (database) => {
    const place = new PackPlace(database)
    place.objects.dieAfterPut = true
    expect(await rejectionOf(place.put(3))).toMatchObject({ message: 'killed' })
    place.objects.dieAfterPut = false
    expect(place.objects.objects.size).toBe(1)
    await place.compactor.dropUnused(1000, 900)
    await place.compactor.dropUnused(1099, 999)
    expect(place.objects.objects.size).toBe(1)
    await place.compactor.dropUnused(1100, 1000)
    expect(place.objects.objects.size).toBe(0)
    expect(await place.countRows()).toEqual({ packs: 0, blobs: 0 })
  })

  test('a writer whose keys a collector took back stores under others', async (database) => {
    const place = new PackPlace(database)
    await place.put(1)
    await place.compactor.dropUnused(1000, 1000)
    const blobs = await place.put(5)
    await place.expectAll(blobs)
    await place.compact()
    await place.expectAll(blobs)
    expect(place.objects.totalBytes).toBe(6 * blobBytes)
  })

  test('a pack that lost its end hits the blobs there and no others, and is never rewritten', async (database) => {
    const place = new PackPlace(database)
    const left = await place.removeAllBut(await place.put(10), 4)
    const [[key, bytes] = ['', new Uint8Array()]] = place.objects.objects
    place.objects.objects.set(key, bytes.slice(0, 6 * blobBytes + 1))
    await place.compact()
    expect(place.objects.objects.size).toBe(1)
    const lengths = await Promise.all(
      [...left.keys()].map(async (id) => (await place.blobs.get(id)).length),
    )
    expect(lengths.toSorted((a, b) => a - b)).toEqual([1, ...Array(3).fill(blobBytes)])
  })

  test('a blob from before there were packs is read, kept and deleted', async (database) => {
    const place = new PackPlace(database)
    const [[id, bytes] = [uniqueHash(), new Uint8Array()]] = blobsOf(1)
    const key = `blobs/${place.pool}/ab/${formatHash(id)}.old`
    await place.objects.put(key, bytes)
    await database.transact([
      {
        sql: 'INSERT INTO blob_objects (pool, hash, object_key, size, is_stored) VALUES (?, ?, ?, ?, 1)',
        params: [poolKey(place.pool), hashColumn(id), keyBytes(key), bytes.length],
      },
    ])
    expect(await place.blobs.get(id)).toEqual(bytes)
    expect(await place.blobs.touch([id])).toEqual(new Set([id]))
    await place.blobs.put(new Map([[id, bytes]]))
    expect([...place.objects.objects.keys()]).toEqual([key])
    await place.survey.condemn(place.pool, 'blob_objects', [id], 1000)
    await place.survey.remove(place.pool, 'blob_objects', [id], 1000)
    expect(place.objects.objects.size).toBe(0)
  })
})

/** Counts requests, and can die between two steps. */
class CountedObjects extends MemoryObjectStore {
  reads = 0
  dieAfterPut = false

  get totalBytes(): number {
    return [...this.objects.values()].reduce((sum, { length }) => sum + length, 0)
  }

  override async put(key: string, ...parts: readonly Uint8Array[]): Promise<void> {
    await super.put(key, ...parts)
    if (this.dieAfterPut) throw new Error('killed')
  }

  override get: ObjectStore['get'] = (key, range) => {
    this.reads++
    return super.get(key, range)
  }
}

/** A pool of its own. */
class PackPlace {
  readonly pool: string = crypto.randomUUID()
  readonly objects: CountedObjects = new CountedObjects()
  readonly blobs: PlacedBlobs
  readonly survey: SurveyTable
  readonly compactor: PackCompactor
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
    this.blobs = new PlacedBlobs(database, this.objects, this.pool)
    this.survey = new SurveyTable(database, this.objects)
    this.compactor = new PackCompactor(database, this.objects)
  }

  async put(count: number): Promise<Map<Hash, Uint8Array>> {
    const blobs = blobsOf(count)
    await this.blobs.put(blobs)
    return blobs
  }

  async remove(ids: readonly Hash[]): Promise<void> {
    await this.survey.remove(this.pool, 'packed_blobs', ids, undefined)
  }

  /** Gives those that are left, which are not neighbours. */
  async removeAllBut(
    blobs: ReadonlyMap<Hash, Uint8Array>,
    count: number,
  ): Promise<Map<Hash, Uint8Array>> {
    const every = Math.floor(blobs.size / count)
    const left = new Map([...blobs].filter((_, i) => i % every === 0 && i / every < count))
    await this.remove([...blobs.keys()].filter((id) => !left.has(id)))
    return left
  }

  /** With nothing to wait for. */
  async compact(): Promise<void> {
    await this.compactor.compact(this.pool)
    await this.compactor.dropUnused(1, 1)
  }

  async expectAll(blobs: ReadonlyMap<Hash, Uint8Array>): Promise<void> {
    const got = await Promise.all([...blobs.keys()].map((id) => this.blobs.get(id)))
    expect(got).toEqual([...blobs.values()])
  }

  /** Packs that are finished, and blobs in them. */
  async countRows(): Promise<{ packs: number; blobs: number }> {
    const params = [poolKey(this.pool)]
    const packs = 'SELECT pack_key FROM packs WHERE pool = ? AND is_stored = 1'
    const blobs = 'SELECT hash FROM packed_blobs WHERE pool = ?'
    return {
      packs: (await this.#database.query(packs, params)).length,
      blobs: (await this.#database.query(blobs, params)).length,
    }
  }
}

function blobsOf(count: number): Map<Hash, Uint8Array> {
  return new Map(
    Array.from({ length: count }, (_, i) => [uniqueHash(), new Uint8Array(blobBytes).fill(i)]),
  )
}
