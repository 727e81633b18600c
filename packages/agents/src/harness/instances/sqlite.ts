import { DatabaseSync } from 'node:sqlite'
import type { InstanceStore } from './instance-store.ts'
import { KeyTaken, type Sql, type StoredRow } from './sql.ts'
import { SqlInstanceStore } from './sql-instance-store.ts'

const uniqueness = new Set([1555, 2067])

/** Reservations in a file, for the processes of one machine. */
export function openSqliteInstances(file: string): Promise<InstanceStore> {
  const database = new DatabaseSync(file)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 10000')
  const sql: Sql = {
    query: async (text, params) => database.prepare(text).all(...params) as StoredRow[],
    execute: async (text, params) => {
      try {
        return Number(database.prepare(text).run(...params).changes)
      } catch (error) {
        const { errcode, message } = error as Error & { readonly errcode?: number }
        throw errcode !== undefined && uniqueness.has(errcode) ? new KeyTaken(message) : error
      }
    },
    close: async () => database.close(),
  }
  return SqlInstanceStore.open(sql)
}
