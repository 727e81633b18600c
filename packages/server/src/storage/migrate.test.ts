import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { expectCode } from '@cairn/core/conformance'
import { withTemporaryDirectory } from '../conformance/temporary-directory.ts'
import type { Database } from './database.ts'
import { migrate } from './migrate.ts'
import { type Migration, migrations } from './schema.ts'
import { SqliteDatabase } from './sqlite/sqlite-database.ts'

const notes: Migration = {
  version: migrations.at(-1)!.version + 1,
  statements: ({ types, tableEnd }) => [
    `CREATE TABLE IF NOT EXISTS notes (id ${types.key} NOT NULL PRIMARY KEY) ${tableEnd}`,
  ],
}

describe('migrating', () => {
  it('versions ascend, and each stands once', () => {
    const versions = migrations.map(({ version }) => version)
    expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => a - b))
  })

  it('happens once: the second time only looks', async () => {
    await withDatabase(async (database) => {
      await migrate(database)
      let writes = 0
      const counting: Database = {
        dialect: database.dialect,
        query: (sql, params) => database.query(sql, params),
        transact: (statements) => {
          writes += statements.filter(({ sql }) => !sql.includes('migrations')).length
          return database.transact(statements)
        },
        exclusively: (name, work) => database.exclusively(name, work),
        close: () => database.close(),
      }
      await migrate(counting)
      expect(writes).toBe(0)
    })
  })

  it('what came since is added to what is there', async () => {
    await withDatabase(async (database) => {
      await migrate(database)
      await migrate(database, [...migrations, notes])
      expect(await database.query('SELECT id FROM notes', [])).toEqual([])
    })
  })

  it('one that broke off in the middle is finished by the next start', async () => {
    await withDatabase(async (database) => {
      const broken: Migration = {
        version: notes.version,
        statements: (dialect) => [...notes.statements(dialect), 'CREATE NONSENSE'],
      }
      await expect(migrate(database, [...migrations, broken])).rejects.toThrow()
      await migrate(database, [...migrations, notes])
      expect(await database.query('SELECT id FROM notes', [])).toEqual([])
    })
  })

  it('a newer schema than the program knows is unsupported_version', async () => {
    await withDatabase(async (database) => {
      await migrate(database, [...migrations, notes])
      await expectCode(migrate(database), 'unsupported_version', 'schema')
      await migrate(database, [...migrations, notes])
    })
  })
})

async function withDatabase(work: (database: Database) => Promise<void>): Promise<void> {
  await withTemporaryDirectory(async (directory) => {
    const database = await SqliteDatabase.open(join(directory, 'meta.db'))
    try {
      await work(database)
    } finally {
      await database.close()
    }
  })
}
