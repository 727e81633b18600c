import { randomBytes, randomUUID } from 'node:crypto'
import type { Hash } from '@cairn/protocol'
import { hashColumn, keyBytes } from './columns.ts'
import { poolKey } from './content-table.ts'
import { noteDead } from './content-remover.ts'
import { type Database, type Statement, tryTransact } from './database.ts'
import type { DraftMark } from './draft-mark.ts'
import { insertStatements } from './statements.ts'
import { touchRows } from './touch-rows.ts'

/** A blob in a pack that is being made. */
export interface PackedBlob {
  readonly id: Hash
  readonly at: number
  readonly size: number
  /** The draft that wants it; undefined where more than one wants it, or none. */
  readonly mark: DraftMark | undefined
}

/** A blob that a pack takes over from another. */
export interface MovedBlob extends Omit<PackedBlob, 'mark'> {
  readonly from: string
}

/** The packs of a pool, and which blobs are in them. */
export class PackTable {
  readonly #database: Database
  readonly #name: string
  readonly #pool: Uint8Array

  constructor(database: Database, pool: string) {
    this.#database = database
    this.#name = pool
    this.#pool = poolKey(pool)
  }

  /**
   * Keys that no object ever had. The row comes before the object, so a pack that its writer did not live to finish is
   * found. They are in one directory, so that a disk syncs the names of several packs together; two digits make 256
   * directories.
   */
  async giveKeys(count: number): Promise<readonly string[]> {
    const directory = `packs/${this.#name}/${randomBytes(1).toString('hex')}`
    const keys = Array.from({ length: count }, () => `${directory}/${randomUUID()}`)
    const columns = ['pack_key', 'pool', 'size', 'is_stored']
    const rows = keys.map((key) => [keyBytes(key), this.#pool, 0, 0])
    await this.#database.transact(insertStatements({ table: 'packs', columns, rows }))
    return keys
  }

  /** Those that are stored; the collector begins anew with them. */
  touch(ids: readonly Hash[]): Promise<ReadonlySet<Hash>> {
    return touchRows(this.#database, 'packed_blobs', this.#pool, ids)
  }

  /**
   * The pack is stored. A blob that another pack has by now stays there. False when a collector took the key for one that
   * its writer left.
   */
  settle(key: string, size: number, blobs: readonly PackedBlob[]): Promise<boolean> {
    const onTaken = this.#database.dialect.clearOnTaken(['pool', 'hash'], 'condemned_ms')
    const columns = ['pool', 'hash', 'pack_key', 'at', 'size', 'condemned_ms']
    // In order of hashes: writers that lock the same entries of the index wait for each other.
    const rows = blobs
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map((blob) => [
        this.#pool,
        hashColumn(blob.id),
        keyBytes(key),
        blob.at,
        blob.size,
        blob.mark ?? null,
      ])
    return this.#finish(
      key,
      size,
      insertStatements({ table: 'packed_blobs', columns, rows, onTaken }),
    )
  }

  /** A pack takes the place of others. Blobs that were deleted or moved meanwhile are left out. False as for `settle`. */
  replace(key: string, size: number, blobs: readonly MovedBlob[]): Promise<boolean> {
    const rows = blobs.map(({ id, at, from }) => ({
      sql: 'UPDATE packed_blobs SET pack_key = ?, at = ? WHERE pool = ? AND hash = ? AND pack_key = ?',
      params: [keyBytes(key), at, this.#pool, hashColumn(id), keyBytes(from)],
    }))
    return this.#finish(key, size, rows)
  }

  /** Where the key is lost, the object is for the collector: it looks whether a row names it after all. */
  async #finish(key: string, size: number, rows: readonly Statement[]): Promise<boolean> {
    const sql =
      'UPDATE packs SET size = ?, is_stored = 1, met_ms = NULL WHERE pack_key = ? AND is_stored = 0'
    const finished = { sql, params: [size, keyBytes(key)], expect: 1 }
    if (await tryTransact(this.#database, [finished, ...rows])) return true
    await this.#database.transact(noteDead(this.#database, [key]))
    return false
  }
}
