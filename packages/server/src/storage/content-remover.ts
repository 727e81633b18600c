import type { Hash } from '@cairn/protocol'
import { keyBytes, textOf } from './columns.ts'
import type { Database, Statement } from './database.ts'
import type { ObjectStore } from './object-store.ts'
import { insertStatements, marksFor } from './statements.ts'
import { type ContentTableName, groupHashes, whereHashes } from './touch-rows.ts'

/** What must be true of a row when it is deleted: part of the deletion, so that nothing comes in between. */
interface Condition {
  readonly sql: string
  readonly params: readonly number[]
}

/** Deleted side by side, and noted together. */
const keysAtOnce = 50

/** The column that names the object which holds a row's content. */
const keyColumns: Readonly<Partial<Record<ContentTableName, string>>> = {
  packed_blobs: 'pack_key',
  blob_objects: 'object_key',
}

/** Objects that go as soon as no row names them. */
export function noteDead(database: Database, keys: readonly string[]): Statement[] {
  const columns = ['dead_key']
  const rows = keys.map((key) => [keyBytes(key)])
  const onTaken = database.dialect.onTaken(columns, [])
  return insertStatements({ table: 'dead_objects', columns, rows, onTaken })
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
      const column = keyColumns[table]
      const insert = `INSERT INTO dead_objects (dead_key) SELECT DISTINCT ${column} FROM ${table} ${filter}`
      const remember = { sql: `${insert} ${dialect.onTaken(['dead_key'], [])}`, params }
      await this.#database.transact([
        ...(column === undefined ? [] : [remember]),
        { sql: `DELETE FROM ${table} ${filter}`, params },
      ])
    }
    if (keyColumns[table] !== undefined) await this.removeDeadObjects()
  }

  async removeDeadObjects(): Promise<void> {
    for (;;) {
      const rows = await this.#database.query('SELECT dead_key FROM dead_objects LIMIT ?', [
        keysAtOnce,
      ])
      if (rows.length === 0) return
      await this.#removeObjects(rows.map((row) => textOf(row, 'dead_key')))
    }
  }

  /**
   * A key is given once, and a pack gets all of its blobs at once: what has no row any more is never needed again. All in one
   * transaction, because a full disk has little room for them.
   */
  async #removeObjects(keys: readonly string[]): Promise<void> {
    const used = await this.#findUsed(keys)
    const dead = keys.filter((key) => !used.has(key))
    await Promise.all(dead.map((key) => this.#objects.delete(key)))
    const forget = (table: string, column: string, some: readonly string[]): Statement[] =>
      some.length === 0
        ? []
        : [
            {
              sql: `DELETE FROM ${table} WHERE ${column} IN (${marksFor(some)})`,
              params: some.map(keyBytes),
            },
          ]
    await this.#database.transact([
      ...forget('packs', 'pack_key', dead),
      ...forget('dead_objects', 'dead_key', keys),
    ])
  }

  /** Those that a row names. */
  async #findUsed(keys: readonly string[]): Promise<ReadonlySet<string>> {
    const params = keys.map(keyBytes)
    const rows = await this.#database.query(
      `SELECT pack_key AS used_key FROM packed_blobs WHERE pack_key IN (${marksFor(keys)})
       UNION SELECT object_key FROM blob_objects WHERE object_key IN (${marksFor(keys)})`,
      [...params, ...params],
    )
    return new Set(rows.map((row) => textOf(row, 'used_key')))
  }
}
