import {
  casesOf,
  expect,
  rejectionOf,
  type StoreCase,
  type StoreTest,
  uniqueId,
} from '@cairn/core/conformance'
import { type BranchId, type Hash, isCairnError, rootIno } from '@cairn/protocol'
import { ContentRemover } from '../storage/content-remover.ts'
import type { Database } from '../storage/database.ts'
import { NodeTable } from '../storage/node-table.ts'
import { PlacedBlobs } from '../storage/placed-blobs.ts'
import { SurveyTable } from '../storage/survey-table.ts'
import { TraceTable } from '../storage/trace-table.ts'
import type { ContentTableName } from '../storage/touch-rows.ts'
import { MemoryObjectStore } from './memory-object-store.ts'

const places = [
  { table: 'nodes', bytes: 100 },
  { table: 'blobs', bytes: 100 },
  { table: 'packed_blobs', bytes: 100_000 },
] as const

/** What collecting relies on: content is deleted only if no client has used it since it was condemned. */
export const surveyTableCases: readonly StoreCase<Database>[] = casesOf((test) => {
  for (const { table, bytes } of places)
    contentCases((name, run) =>
      test(`content in ${table}: ${name}`, (database) =>
        run(new SurveyedStores(database, table, bytes))),
    )
  for (const { table, bytes } of places.slice(1))
    touchCase((name, run) =>
      test(`content in ${table}: ${name}`, (database) =>
        run(new SurveyedStores(database, table, bytes))),
    )
  test('what mounts read first goes with the branch', async (database) => {
    const [branch, other] = [`${uniqueId()}/main`, `${uniqueId()}/main`] as BranchId[]
    const traces = new TraceTable(database)
    for (const each of [branch!, other!])
      await traces.put(each, rootIno, [{ ino: rootIno, block: 0 }], 1)
    await new SurveyTable(database, new MemoryObjectStore()).removeBranch(branch!)
    expect(await traces.find(branch!, rootIno)).toEqual([])
    expect((await traces.find(other!, rootIno)).length).toBe(1)
  })
  crashCases((name, run) =>
    test(name, (database) => run(new SurveyedStores(database, 'packed_blobs', 100_000))),
  )
})

function contentCases(test: StoreTest<SurveyedStores>): void {
  test('what was condemned long enough ago goes', async (place) => {
    await place.put()
    await place.condemn(1000)
    await place.remove(999)
    expect(await place.isThere()).toBe(true)
    await place.remove(1000)
    expect(await place.isThere()).toBe(false)
    expect(place.objects.objects.size).toBe(0)
  })

  test('what is put again meanwhile stays, and can be condemned anew', async (place) => {
    await place.put()
    await place.condemn(1000)
    await place.put()
    await place.remove(1000)
    expect(await place.isThere()).toBe(true)
    await place.condemn(2000)
    await place.remove(1999)
    expect(await place.isThere()).toBe(true)
  })

  test('a second verdict does not make the first one younger', async (place) => {
    await place.put()
    await place.condemn(1000)
    await place.condemn(5000)
    await place.remove(1000)
    expect(await place.isThere()).toBe(false)
  })

  test('what was taken away can be put again', async (place) => {
    await place.put()
    await place.condemn(1000)
    await place.remove(1000)
    await place.put()
    expect(await place.isThere()).toBe(true)
  })

  test('what is needed after all is spared', async (place) => {
    await place.put()
    await place.condemn(1000)
    await place.survey.spare(place.pool, place.table, [place.id])
    await place.remove(1000)
    expect(await place.isThere()).toBe(true)
  })

  test('whether it goes or stays, who uses it meanwhile is right', async (place) => {
    for (let round = 0; round < 20; round++) {
      await place.put()
      await place.condemn(1000)
      await Promise.all([place.remove(1000), place.put(), place.remove(1000)])
      expect(await place.isThere()).toBe(true)
    }
  })
}

function touchCase(test: StoreTest<SurveyedStores>): void {
  test('what is touched meanwhile stays; what is gone is not touched', async (place) => {
    await place.put()
    await place.condemn(1000)
    expect(await place.blobs.touch([place.id])).toEqual(new Set([place.id]))
    await place.remove(1000)
    expect(await place.isThere()).toBe(true)
    await place.condemn(1000)
    await place.remove(1000)
    expect(await place.blobs.touch([place.id])).toEqual(new Set())
  })
}

function crashCases(test: StoreTest<SurveyedStores>): void {
  test('an object that a collector left when it died goes with the next one', async (place) => {
    await place.put()
    await place.condemn(1000)
    place.objects.delete = () => Promise.reject(new Error('killed'))
    expect(await rejectionOf(place.remove(1000))).toMatchObject({ message: 'killed' })
    expect(place.objects.objects.size).toBe(1)
    // Stored again before the cleaning: that is another object.
    await place.put()
    Reflect.deleteProperty(place.objects, 'delete')
    await place.remover.removeDeadObjects()
    expect(place.objects.objects.size).toBe(1)
    expect(await place.isThere()).toBe(true)
  })

  test('a blob that a writer left half stored is stored by the next one', async (place) => {
    place.objects.put = () => Promise.reject(new Error('killed'))
    expect(await rejectionOf(place.put())).toMatchObject({ message: 'killed' })
    expect(await place.blobs.touch([place.id])).toEqual(new Set())
    Reflect.deleteProperty(place.objects, 'put')
    await place.put()
    expect(await place.isThere()).toBe(true)
  })
}

/** One piece of content in a pool of its own. */
class SurveyedStores {
  readonly id = '\x07'.repeat(32) as Hash
  readonly pool = crypto.randomUUID()
  readonly objects = new MemoryObjectStore()
  readonly blobs: PlacedBlobs
  readonly survey: SurveyTable
  readonly remover: ContentRemover
  readonly #store: NodeTable | PlacedBlobs
  readonly table: ContentTableName
  readonly #bytes: number

  constructor(database: Database, table: ContentTableName, bytes: number) {
    this.blobs = new PlacedBlobs(database, this.objects, this.pool)
    this.survey = new SurveyTable(database, this.objects)
    this.remover = new ContentRemover(database, this.objects)
    this.#store = table === 'nodes' ? new NodeTable(database, this.pool) : this.blobs
    this.table = table
    this.#bytes = bytes
  }

  put(): Promise<void> {
    return this.#store.put(new Map([[this.id, new Uint8Array(this.#bytes).fill(1)]]))
  }

  condemn(nowMs: number): Promise<void> {
    return this.survey.condemn(this.pool, this.table, [this.id], nowMs)
  }

  remove(upToMs: number): Promise<void> {
    return this.survey.remove(this.pool, this.table, [this.id], upToMs)
  }

  async isThere(): Promise<boolean> {
    try {
      return (await this.#store.get(this.id)).length === this.#bytes
    } catch (error) {
      if (isCairnError(error, 'node_missing') || isCairnError(error, 'blob_missing')) return false
      throw error
    }
  }
}
