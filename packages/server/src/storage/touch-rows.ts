import type { Hash } from '@cairn/protocol'
import { hashColumn, hashOf } from './columns.ts'
import type { Database, SqlValue } from './database.ts'

/** Where content is noted by pool and hash. `blob_objects` has blobs from before there were packs. */
export const contentTables = ['nodes', 'blobs', 'packed_blobs', 'blob_objects'] as const
export type ContentTableName = (typeof contentTables)[number]

const hashesAtOnce = 100
/** While one transaction is written, other writers wait. */
const statementsAtOnce = 20

/**
 * Returns those that are there, none of them condemned: a client that points at one now has the
 * whole grace time for it. Asking again after the change tells whether the collector was quicker.
 */
export async function touchRows(
  database: Database,
  table: ContentTableName,
  pool: Uint8Array,
  ids: readonly Hash[],
  /** What else must be true of a row. */
  condition = '1 = 1',
): Promise<ReadonlySet<Hash>> {
  const present = new Set<Hash>()
  for (const some of groupHashes(ids)) {
    const [where, params] = whereHashes(pool, some)
    const select = `SELECT hash, condemned_ms FROM ${table} WHERE ${where} AND ${condition}`
    let rows = await database.query(select, params)
    if (rows.some((row) => row['condemned_ms'] !== null)) {
      const sql = `UPDATE ${table} SET condemned_ms = NULL WHERE ${where}`
      await database.transact([{ sql, params }])
      rows = await database.query(select, params)
    }
    for (const row of rows) present.add(hashOf(row, 'hash'))
  }
  return present
}

/** Takes the verdict of a collector back from rows that are known to be there. */
export async function spareRows(
  database: Database,
  table: ContentTableName,
  pool: Uint8Array,
  ids: readonly Hash[],
): Promise<void> {
  const statements = [...groupHashes(ids)].map((some) => {
    const [where, params] = whereHashes(pool, some)
    const sql = `UPDATE ${table} SET condemned_ms = NULL WHERE ${where} AND condemned_ms IS NOT NULL`
    return { sql, params }
  })
  for (let at = 0; at < statements.length; at += statementsAtOnce)
    await database.transact(statements.slice(at, at + statementsAtOnce))
}

/** In order, so that those who lock the same rows wait for each other instead of dying in a deadlock. */
export function* groupHashes(hashes: readonly Hash[]): Generator<readonly Hash[]> {
  const sorted = hashes.toSorted()
  for (let at = 0; at < sorted.length; at += hashesAtOnce) yield sorted.slice(at, at + hashesAtOnce)
}

export function whereHashes(
  pool: Uint8Array,
  hashes: readonly Hash[],
): [sql: string, params: SqlValue[]] {
  const sql = `pool = ? AND hash IN (${hashes.map(() => '?').join(', ')})`
  return [sql, [pool, ...hashes.map(hashColumn)]]
}
