import type { ResultSetHeader } from 'mysql2'
import type { InstanceStore } from './instance-store.ts'
import { KeyTaken, type Sql, type StoredRow } from './sql.ts'
import { SqlInstanceStore } from './sql-instance-store.ts'

/** Reservations in a database, for processes on many machines. Needs the package `mysql2`. */
export async function openMysqlInstances(url: string): Promise<InstanceStore> {
  const { createPool } = await import('mysql2/promise')
  const pool = createPool({ uri: url, connectionLimit: 4, flags: ['FOUND_ROWS'] })
  const run = async (text: string, params: readonly (number | Uint8Array)[]): Promise<unknown> =>
    (await pool.execute(text, params.map(parameter)))[0]
  const sql: Sql = {
    query: async (text, params) => (await run(text, params)) as StoredRow[],
    execute: async (text, params) => {
      try {
        return ((await run(text, params)) as ResultSetHeader).affectedRows
      } catch (error) {
        const { code, message } = error as Error & { readonly code?: string }
        throw code === 'ER_DUP_ENTRY' ? new KeyTaken(message) : error
      }
    },
    close: () => pool.end(),
  }
  return SqlInstanceStore.open(sql).catch(async (error: unknown) => {
    await sql.close()
    throw error
  })
}

function parameter(value: number | Uint8Array): number | Buffer {
  return typeof value === 'number' ? value : Buffer.from(value)
}
