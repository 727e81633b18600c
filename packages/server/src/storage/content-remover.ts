import type { Hash } from '@cairn/protocol'
import { keyBytes, textOf } from './columns.ts'
import type { Database } from './database.ts'
import type { ObjectStore } from './object-store.ts'
import { type ContentTableName, groupHashes, whereHashes } from './touch-rows.ts'

/** What must be true of a row when it is deleted: part of the deletion, so that nothing comes in between. */
interface Condition {
  readonly sql: string
  readonly params: readonly number[]
}

/** Deletes content for good: rows first, then the objects that no row names any more. */
export class ContentRemover {
  readonly #database: Database
  readonly #objects: ObjectStore

  constructor(database: Database, objects: ObjectStore) {
    this.#database = database
    this.#objects = objects
  }

  async remove(
    pool: Uint8Array,
    table: ContentTableName,
    hashes: readonly Hash[],
    condition: Condition,
  ): Promise<void> {
    const { dialect } = this.#database
    for (const some of groupHashes(hashes)) {
      const [where, more] = whereHashes(pool, some)
      const filter = `WHERE ${condition.sql} AND ${where}`
      const params = [...condition.params, ...more]
      const insert = `INSERT INTO dead_objects (dead_key) SELECT object_key FROM blob_objects ${filter}`
      const remember = { sql: `${insert} ${dialect.onTaken(['dead_key'], [])}`, params }
      const isObject = table === 'blob_objects'
      await this.#database.transact([
        ...(isObject ? [remember] : []),
        { sql: `DELETE FROM ${table} ${filter}`, params },
      ])
    }
    if (table === 'blob_objects') await this.removeDeadObjects()
  }

  async removeDeadObjects(): Promise<void> {
    for (;;) {
      const rows = await this.#database.query('SELECT dead_key FROM dead_objects LIMIT 100', [])
      if (rows.length === 0) return
      for (const row of rows) await this.#removeDeadObject(textOf(row, 'dead_key'))
    }
  }

  /** A key is given once: what has no row any more is never needed again. */
  async #removeDeadObject(key: string): Promise<void> {
    const params = [keyBytes(key)]
    const rows = await this.#database.query('SELECT hash FROM blob_objects WHERE object_key = ?', [
      ...params,
    ])
    if (rows.length === 0) await this.#objects.delete(key)
    await this.#database.transact([{ sql: 'DELETE FROM dead_objects WHERE dead_key = ?', params }])
  }
}
