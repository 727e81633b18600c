import { CairnError } from '@cairn/protocol'
import { numberOf } from './columns.ts'
import type { Database } from './database.ts'
import { type AddedColumn, type Migration, migrations } from './schema.ts'

/**
 * Brings the schema up to what this program knows. Safe while other servers do the same: one at a time, and each
 * step bears being repeated. Rejects with `unsupported_version` when a newer program was here.
 */
export async function migrate(
  database: Database,
  known: readonly Migration[] = migrations,
): Promise<void> {
  await createMigrationTable(database)
  // Without the claim first: an ordinary start only looks.
  if ((await findMissing(database, known)).length === 0) return
  await database.exclusively('migrate', async () => {
    for (const migration of await findMissing(database, known)) await apply(database, migration)
  })
}

async function createMigrationTable(database: Database): Promise<void> {
  const { types, tableEnd } = database.dialect
  const sql = `CREATE TABLE IF NOT EXISTS migrations (version ${types.integer} NOT NULL PRIMARY KEY) ${tableEnd}`
  await database.transact([{ sql, params: [] }])
}

async function findMissing(
  database: Database,
  known: readonly Migration[],
): Promise<readonly Migration[]> {
  const rows = await database.query('SELECT version FROM migrations', [])
  const applied = new Set(rows.map((row) => numberOf(row, 'version')))
  const newest = Math.max(0, ...applied)
  const newestKnown = known.at(-1)?.version ?? 0
  if (newest > newestKnown)
    throw new CairnError('unsupported_version', {
      what: 'open the database',
      reason: `its schema has version ${newest}, this program knows up to ${newestKnown}`,
      subject: 'schema',
    })
  return known.filter(({ version }) => !applied.has(version))
}

async function apply(database: Database, migration: Migration): Promise<void> {
  const { version, statements, columns = [] } = migration
  const { dialect } = database
  for (const sql of statements(dialect)) await database.transact([{ sql, params: [] }])
  for (const column of columns) await addColumn(database, column)
  const sql = `INSERT INTO migrations (version) VALUES (?) ${dialect.onTaken(['version'], [])}`
  await database.transact([{ sql, params: [version] }])
}

/** Few databases know `ADD COLUMN IF NOT EXISTS`. */
async function addColumn(database: Database, { table, name, type }: AddedColumn): Promise<void> {
  const { dialect } = database
  if ((await database.query(dialect.findColumn(table, name), [])).length > 0) return
  const sql = `ALTER TABLE ${table} ADD COLUMN ${name} ${dialect.types[type]}`
  await database.transact([{ sql, params: [] }])
}
