import type { BlobDraft, BlobStore } from '@cairn/core'
import type { Hash } from '@cairn/protocol'
import { BlobReader } from './blob-reader.ts'
import { ContentRemover } from './content-remover.ts'
import { ContentTable, poolKey } from './content-table.ts'
import type { Database } from './database.ts'
import { type DraftMark, draftMark } from './draft-mark.ts'
import type { ObjectStore } from './object-store.ts'
import { PackTable } from './pack-table.ts'
import { PackWriter } from './pack-writer.ts'
import { PlacedDraft } from './placed-draft.ts'
import { spareRows, touchRows } from './touch-rows.ts'

/**
 * Up to here a blob goes into SQL, where many of them cost one transaction. Beyond, a request of its own is cheap
 * beside moving its bytes.
 */
const sqlBytesMax = 64 << 10

const largeTables = ['packed_blobs', 'blob_objects'] as const

/** The blobs of one pool: small ones in SQL, large ones in packs in the object store. */
export class PlacedBlobs implements BlobStore {
  readonly #database: Database
  readonly #small: ContentTable
  readonly #packs: PackTable
  readonly #writer: PackWriter
  readonly #reader: BlobReader
  readonly #objects: ObjectStore
  readonly #pool: Uint8Array

  constructor(database: Database, objects: ObjectStore, pool: string) {
    this.#database = database
    this.#small = new ContentTable(database, 'blobs', pool)
    this.#packs = new PackTable(database, pool)
    this.#writer = new PackWriter(this.#packs, objects)
    this.#reader = new BlobReader(database, objects, pool)
    this.#objects = objects
    this.#pool = poolKey(pool)
  }

  get(id: Hash): Promise<Uint8Array> {
    return this.#reader.read(id)
  }

  put(blobs: ReadonlyMap<Hash, Uint8Array>): Promise<void> {
    return this.#put(blobs, undefined)
  }

  draft(nowMs: () => number): BlobDraft {
    const marks = new Set<DraftMark>()
    let hasLarge = false
    return new PlacedDraft({
      put: (blobs) => {
        const mark = draftMark(nowMs())
        marks.add(mark)
        hasLarge ||= [...blobs.values()].some(isLarge)
        return this.#put(blobs, mark)
      },
      keep: async (ids) => {
        const tables = hasLarge ? (['blobs', ...largeTables] as const) : (['blobs'] as const)
        for (const table of tables) await spareRows(this.#database, table, this.#pool, ids)
      },
      drop: (ids) => this.#drop(ids, [...marks]),
    })
  }

  async #put(blobs: ReadonlyMap<Hash, Uint8Array>, mark: DraftMark | undefined): Promise<void> {
    const all = [...blobs]
    const large = all.filter(([, bytes]) => isLarge(bytes))
    const small = all.filter(([, bytes]) => !isLarge(bytes))
    await Promise.all([this.#small.put(new Map(small), mark), this.#putPacked(large, mark)])
    // DURABLE: database and object store have all of them on disk; a tree may point at them.
  }

  async #putPacked(
    blobs: readonly (readonly [Hash, Uint8Array])[],
    mark: DraftMark | undefined,
  ): Promise<void> {
    if (blobs.length === 0) return
    const stored = await this.#touchLarge(blobs.map(([id]) => id))
    await this.#writer.put(new Map(blobs.filter(([id]) => !stored.has(id))), mark)
  }

  async touch(ids: readonly Hash[]): Promise<ReadonlySet<Hash>> {
    const small = await this.#small.touch(ids)
    const large = await this.#touchLarge(ids.filter((id) => !small.has(id)))
    return new Set([...small, ...large])
  }

  async #touchLarge(ids: readonly Hash[]): Promise<ReadonlySet<Hash>> {
    const packed = await this.#packs.touch(ids)
    const rest = ids.filter((id) => !packed.has(id))
    return new Set([...packed, ...(await this.#touchOld(rest))])
  }

  /** Those that have an object each, from before there were packs. */
  async #touchOld(ids: readonly Hash[]): Promise<ReadonlySet<Hash>> {
    return touchRows(this.#database, 'blob_objects', this.#pool, ids, 'is_stored = 1')
  }

  /** Each put or touch takes a mark back: what still has it is this draft's alone. */
  async #drop(ids: readonly Hash[], marks: readonly DraftMark[]): Promise<void> {
    if (ids.length === 0) return
    const remover = new ContentRemover(this.#database, this.#objects)
    const condition = { sql: `condemned_ms IN (${marks.map(() => '?').join(', ')})`, params: marks }
    for (const table of ['blobs', 'packed_blobs'] as const)
      await remover.remove(this.#pool, table, ids, condition)
  }
}

function isLarge({ length }: Uint8Array): boolean {
  return length > sqlBytesMax
}
