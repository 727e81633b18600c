import { randomUUID } from 'node:crypto'
import type { Hash } from '@cairn/protocol'
import { hashColumn, hashOf, keyBytes, textOf } from './columns.ts'
import { poolKey } from './content-table.ts'
import type { Database } from './database.ts'
import type { DraftMark } from './draft-mark.ts'
import { insertStatements } from './statements.ts'
import { groupHashes, touchRows, whereHashes } from './touch-rows.ts'

const columns = ['pool', 'hash', 'object_key', 'size', 'is_stored', 'condemned_ms']

export interface ObjectWish {
  readonly size: number
  /** The draft that wants it; undefined where more than one wants it, or none. */
  readonly mark: DraftMark | undefined
}

/** Which blobs of a pool are objects, and under which keys. */
export class ObjectTable {
  readonly #database: Database
  readonly #place: () => (id: Hash) => string
  readonly #pool: Uint8Array

  /** `place` gives what the keys of blobs that are stored together begin with. */
  constructor(database: Database, pool: string, place: () => (id: Hash) => string) {
    this.#database = database
    this.#place = place
    this.#pool = poolKey(pool)
  }

  /**
   * Records that these are about to be stored, and returns the keys of those that must still be.
   * One that another client is storing must be as well, under the same key: that client may never
   * finish.
   */
  async reserve(wishes: ReadonlyMap<Hash, ObjectWish>): Promise<ReadonlyMap<Hash, string>> {
    const onTaken = this.#database.dialect.clearOnTaken(['pool', 'hash'], 'condemned_ms')
    const missing = new Map<Hash, string>()
    const place = this.#place()
    for (const ids of groupHashes([...wishes.keys()])) {
      const rows = ids.map((id) => {
        const key = keyBytes(`${place(id)}.${randomUUID()}`)
        const { size, mark } = wishes.get(id)!
        return [this.#pool, hashColumn(id), key, size, 0, mark ?? null]
      })
      await this.#database.transact(
        insertStatements({ table: 'blob_objects', columns, rows, onTaken }),
      )
      const [where, params] = whereHashes(this.#pool, ids)
      const sql = `SELECT hash, object_key FROM blob_objects WHERE ${where} AND is_stored = 0`
      for (const row of await this.#database.query(sql, params))
        missing.set(hashOf(row, 'hash'), textOf(row, 'object_key'))
    }
    return missing
  }

  /** Those that are stored; the collector begins anew with them. */
  async touch(ids: readonly Hash[]): Promise<ReadonlySet<Hash>> {
    const stored = new Set<Hash>()
    const present = await touchRows(this.#database, 'blob_objects', this.#pool, ids)
    for (const some of groupHashes([...present])) {
      const [where, params] = whereHashes(this.#pool, some)
      const sql = `SELECT hash FROM blob_objects WHERE ${where} AND is_stored = 1`
      for (const row of await this.#database.query(sql, params)) stored.add(hashOf(row, 'hash'))
    }
    return stored
  }

  /** What was reserved is stored under these keys. */
  async settle(keys: ReadonlyMap<Hash, string>): Promise<void> {
    for (const ids of groupHashes([...keys.keys()])) {
      const [where, params] = whereHashes(this.#pool, ids)
      const sql = `UPDATE blob_objects SET is_stored = 1 WHERE ${where}`
      // The collector did not delete them meanwhile: they were touched a moment ago.
      await this.#database.transact([{ sql, params, expect: ids.length }])
    }
  }
}
