import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { equalBytes, type Hash, isCairnError } from '@cairn/protocol'
import { MemoryObjectStore } from '../conformance/memory-object-store.ts'
import { withTemporaryDirectory } from '../conformance/temporary-directory.ts'
import type { Database } from './database.ts'
import { migrate } from './migrate.ts'
import { PackCompactor } from './pack-compactor.ts'
import { PlacedBlobs } from './placed-blobs.ts'
import { SqliteDatabase } from './sqlite/sqlite-database.ts'
import { SurveyTable } from './survey-table.ts'

const blobCount = 24
const runs = Number(process.env['CAIRN_RUNS'] ?? 1) * 15

const someBlobs = fc.uniqueArray(fc.nat(blobCount - 1), { minLength: 1, maxLength: 12 })
const step = fc.oneof(
  fc.record({ type: fc.constant('put' as const), blobs: someBlobs }),
  fc.record({ type: fc.constant('delete' as const), blobs: someBlobs }),
  fc.record({ type: fc.constantFrom('compact' as const, 'restart' as const) }),
  fc.record({ type: fc.constant('crash' as const), blobs: someBlobs, after: fc.nat(1) }),
)

describe('packs', () => {
  it('random puts, deletions, compactions and crashes leave what a map has', async () => {
    await withTemporaryDirectory(async (directory) => {
      const database = await SqliteDatabase.open(join(directory, 'meta.db'))
      await migrate(database)
      let pools = 0
      const steps = fc.array(step, { minLength: 5, maxLength: 40 })
      await fc.assert(
        fc.asyncProperty(steps, async (history) => {
          const place = new Place(database, `pool-${pools++}`)
          for (const each of history) await place.apply(each)
          await place.check()
        }),
        { numRuns: runs },
      )
      await database.close()
    })
  })
})

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** A pool, and what must be in it. */
class Place {
  readonly #database: Database
  readonly #pool: string
  readonly #objects = new DyingObjects()
  readonly #compactor: PackCompactor
  readonly #survey: SurveyTable
  readonly #map = new Map<Hash, Uint8Array>()
  #blobs: PlacedBlobs

  constructor(database: Database, pool: string) {
    this.#database = database
    this.#pool = pool
    this.#compactor = new PackCompactor(database, this.#objects)
    this.#survey = new SurveyTable(database, this.#objects)
    this.#blobs = new PlacedBlobs(database, this.#objects, pool)
  }

  async apply(each: Step): Promise<void> {
    if (each.type === 'put') await this.#put(each.blobs)
    else if (each.type === 'delete') await this.#delete(each.blobs)
    else if (each.type === 'compact') await this.#compactor.compact(this.#pool)
    else {
      if (each.type === 'crash') await this.#crash(each.blobs, each.after === 1)
      this.#blobs = new PlacedBlobs(this.#database, this.#objects, this.#pool)
    }
    for (const [id, bytes] of this.#map)
      expect(equalBytes(await this.#blobs.get(id), bytes)).toBe(true)
  }

  async #put(numbers: readonly number[]): Promise<void> {
    const blobs = new Map(numbers.map(blobOf))
    await this.#blobs.put(blobs)
    for (const [id, bytes] of blobs) this.#map.set(id, bytes)
  }

  async #delete(numbers: readonly number[]): Promise<void> {
    const ids = numbers.map((number) => blobOf(number)[0])
    await this.#survey.remove(this.#pool, 'packed_blobs', ids, undefined)
    for (const id of ids) this.#map.delete(id)
  }

  /** In the middle of a put, or of a compaction where there is one. */
  async #crash(numbers: readonly number[], isAfterPut: boolean): Promise<void> {
    this.#objects.dies = isAfterPut ? 'after' : 'before'
    const work = [
      this.#compactor.compact(this.#pool),
      this.#blobs.put(new Map(numbers.map(blobOf))),
    ]
    for (const outcome of await Promise.allSettled(work))
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ message: 'killed' })
    this.#objects.dies = undefined
    // What was there already is there still, whatever the put came to.
    for (const number of numbers) {
      const [id, bytes] = blobOf(number)
      if ((await this.#blobs.touch([id])).has(id)) this.#map.set(id, bytes)
    }
  }

  /** Nothing is left of what was deleted or not finished. */
  async check(): Promise<void> {
    await this.#compactor.compact(this.#pool)
    await this.#compactor.dropUnused(1, 1)
    for (let number = 0; number < blobCount; number++) {
      const [id, bytes] = blobOf(number)
      const got = await this.#blobs.get(id).catch((error: unknown) => {
        if (!isCairnError(error, 'blob_missing')) throw error
      })
      expect(got !== undefined).toBe(this.#map.has(id))
      if (got) expect(equalBytes(got, bytes)).toBe(true)
    }
    const neededBytes = [...this.#map.values()].reduce((sum, { length }) => sum + length, 0)
    expect(this.#objects.totalBytes).toBeLessThanOrEqual(2 * neededBytes)
  }
}

class DyingObjects extends MemoryObjectStore {
  dies: 'before' | 'after' | undefined

  get totalBytes(): number {
    return [...this.objects.values()].reduce((sum, { length }) => sum + length, 0)
  }

  override async put(key: string, ...parts: readonly Uint8Array[]): Promise<void> {
    if (this.dies === 'before') throw new Error('killed')
    await super.put(key, ...parts)
    if (this.dies === 'after') throw new Error('killed')
  }
}

/** They have different sizes, so that shares of packs differ. */
function blobOf(number: number): [Hash, Uint8Array] {
  const id = String.fromCharCode(number).repeat(32) as Hash
  return [id, new Uint8Array(66_000 + number * 3000).fill(number)]
}
