import type { Database } from '../database.ts'

const setting = 'innodb_flush_log_at_trx_commit'

/**
 * Why a server may lose what it has committed, and with it what Cairn has acknowledged; undefined
 * when it does not. A warning and no refusal: an operator with replicas may have decided so.
 */
export async function findWeakness(database: Database, place: string): Promise<string | undefined> {
  // Not by `@@`, which is an error where the setting is not known.
  const rows = await database.query(`SHOW GLOBAL VARIABLES LIKE '${setting}'`, [])
  const value = rows[0]?.['Value']
  if (value === undefined || String(value) === '1') return undefined
  return (
    `the database ${place} has ${setting} = ${String(value)}: a crash of its machine loses up to a second of what was ` +
    `acknowledged. Set it to 1`
  )
}
