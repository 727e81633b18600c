import { isCairnError, type Hash } from '@cairn/protocol'
import { hashOf, keyBytes, numberOf, textOf } from './columns.ts'
import { ContentRemover } from './content-remover.ts'
import { poolKey } from './content-table.ts'
import type { Database } from './database.ts'
import type { ObjectStore } from './object-store.ts'
import { type MovedBlob, PackTable } from './pack-table.ts'
import { packBytesMax } from './pack-writer.ts'

interface LiveBlob {
  readonly id: Hash
  readonly at: number
  readonly size: number
}

interface Pack {
  readonly key: string
  readonly size: number
  /** In order of their places. */
  readonly blobs: readonly LiveBlob[]
  readonly liveBytes: number
}

/** A pack with less than this share of content that is needed is rewritten: then a store has at most twice of what it needs. */
const liveShareMin = 0.5
/** Packs that hold less are put together, once there are enough of them to fill a large one. */
const smallBytes: number = packBytesMax / 4
/** What one run moves at most, so that it does not keep the store from others. */
const movedBytesMax = 1 << 30
const packsAtOnce = 50

/**
 * Gives back the space of deleted blobs: copies what is left in a sparse pack into a new one, and deletes the old one a
 * grace time later. Every step is conditional, so any number of compactors may run at once, beside writers and readers.
 */
export class PackCompactor {
  readonly #database: Database
  readonly #objects: ObjectStore
  readonly #remover: ContentRemover

  constructor(database: Database, objects: ObjectStore) {
    this.#database = database
    this.#objects = objects
    this.#remover = new ContentRemover(database, objects)
  }

  async compact(pool: string, step: () => Promise<void> | void = () => {}): Promise<void> {
    const table = new PackTable(this.#database, pool)
    const [sparse, small] = [new Group(), new Group()]
    let moved = 0
    for await (const pack of this.#packs(pool)) {
      if (pack.blobs.length === 0) continue
      if (pack.liveBytes < pack.size * liveShareMin) sparse.add(pack)
      else if (pack.size < smallBytes) small.add(pack)
      for (const group of [sparse, small])
        if (group.bytes >= packBytesMax - smallBytes) moved += await this.#move(table, group.take())
      await step()
      if (moved > movedBytesMax) break
    }
    await this.#move(table, sparse.take())
  }

  /**
   * Deletes packs that hold nothing: those that were emptied, and those that their writers did not live to finish. They go
   * if a run met them before `dueMs`: until then a writer may finish one, and an older backup of the database may need one.
   */
  async dropUnused(nowMs: number, dueMs: number): Promise<void> {
    const isUnused =
      '(is_stored = 0 OR NOT EXISTS (SELECT 1 FROM packed_blobs WHERE packed_blobs.pack_key = packs.pack_key))'
    const isDue = `met_ms <= ? AND ${isUnused}`
    const onTaken = this.#database.dialect.onTaken(['dead_key'], [])
    await this.#database.transact([
      { sql: `UPDATE packs SET met_ms = ? WHERE met_ms IS NULL AND ${isUnused}`, params: [nowMs] },
    ])
    // A writer may finish one just now: then its row is not due.
    await this.#database.transact([
      {
        sql: `INSERT INTO dead_objects (dead_key) SELECT pack_key FROM packs WHERE ${isDue} ${onTaken}`,
        params: [dueMs],
      },
      { sql: `DELETE FROM packs WHERE ${isDue}`, params: [dueMs] },
    ])
    await this.#remover.removeDeadObjects()
  }

  async *#packs(pool: string): AsyncGenerator<Pack> {
    for (let after: Uint8Array = new Uint8Array(); ;) {
      const rows = await this.#database.query(
        'SELECT pack_key, size FROM packs WHERE pool = ? AND is_stored = 1 AND pack_key > ? ORDER BY pack_key LIMIT ?',
        [poolKey(pool), after, packsAtOnce],
      )
      const last = rows.at(-1)
      if (!last) return
      const keys = rows.map((row) => textOf(row, 'pack_key'))
      const blobs = await this.#blobsIn(keys)
      for (const [i, key] of keys.entries())
        yield packOf(key, numberOf(rows[i]!, 'size'), blobs.get(key) ?? [])
      after = keyBytes(keys.at(-1)!)
    }
  }

  async #blobsIn(keys: readonly string[]): Promise<ReadonlyMap<string, LiveBlob[]>> {
    const blobs = new Map<string, LiveBlob[]>()
    const rows = await this.#database.query(
      `SELECT pack_key, hash, at, size FROM packed_blobs WHERE pack_key IN (${keys.map(() => '?').join(', ')})`,
      keys.map(keyBytes),
    )
    for (const row of rows) {
      const key = textOf(row, 'pack_key')
      const blob = { id: hashOf(row, 'hash'), at: numberOf(row, 'at'), size: numberOf(row, 'size') }
      blobs.set(key, [...(blobs.get(key) ?? []), blob])
    }
    return blobs
  }

  /** Gives how many bytes went into the new pack. */
  async #move(table: PackTable, packs: readonly Pack[]): Promise<number> {
    const moved: MovedBlob[] = []
    const parts: Uint8Array[] = []
    let size = 0
    for (const pack of packs) {
      const bytes = await this.#readLive(pack)
      if (!bytes) continue
      for (const [i, { id, size: length }] of pack.blobs.entries()) {
        moved.push({ id, at: size, size: length, from: pack.key })
        parts.push(bytes[i]!)
        size += length
      }
    }
    if (moved.length === 0) return 0
    const [key] = await table.giveKeys(1)
    await this.#objects.put(key!, ...parts)
    // DURABLE: the copies are stored; only now the rows turn to them.
    await table.replace(key!, size, moved)
    return size
  }

  /** Undefined where the pack is damaged: `cairn server check` tells what that hits, and nothing is made worse here. */
  async #readLive({ key, blobs }: Pack): Promise<readonly Uint8Array[] | undefined> {
    const [first, last] = [blobs[0]!, blobs.at(-1)!]
    const range = { start: first.at, length: last.at + last.size - first.at }
    try {
      const bytes = await this.#objects.get(key, range)
      if (bytes.length < range.length) return undefined
      return blobs.map(({ at, size }) => bytes.subarray(at - first.at, at - first.at + size))
    } catch (error) {
      if (isCairnError(error, 'blob_missing')) return undefined
      throw error
    }
  }
}

/** Packs that go into one. */
class Group {
  #packs: Pack[] = []
  bytes = 0

  add(pack: Pack): void {
    this.#packs.push(pack)
    this.bytes += pack.liveBytes
  }

  take(): readonly Pack[] {
    const packs = this.#packs
    this.#packs = []
    this.bytes = 0
    return packs
  }
}

function packOf(key: string, size: number, blobs: readonly LiveBlob[]): Pack {
  const liveBytes = blobs.reduce((sum, blob) => sum + blob.size, 0)
  return { key, size, blobs: blobs.toSorted((a, b) => a.at - b.at), liveBytes }
}
