import { join } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { expectCode } from '@cairn/core/conformance'
import { runTableTests } from '../../testing/table-tests.ts'
import {
  makeTemporaryDirectory,
  removeDirectory,
  withTemporaryDirectory,
} from '../../testing/temporary-directory.ts'
import { migrate } from '../migrate.ts'
import { SqliteDatabase } from './sqlite-database.ts'

describe('SQLite', () => {
  let directory: string
  let database: SqliteDatabase
  beforeAll(async () => {
    directory = await makeTemporaryDirectory()
    database = await SqliteDatabase.open(join(directory, 'meta.db'))
    await migrate(database)
  })
  afterAll(async () => {
    await database.close()
    await removeDirectory(directory)
  })
  runTableTests(() => database)

  it('what comes while it closes is refused, and closing goes on', async () => {
    await withTemporaryDirectory(async (directory) => {
      const closing = await SqliteDatabase.open(join(directory, 'closing.db'))
      const sql = 'CREATE TABLE t (name BLOB NOT NULL PRIMARY KEY)'
      const before = closing.transact([{ sql, params: [] }])
      const closed = closing.close()
      await expectCode(closing.transact([{ sql, params: [] }]), 'storage_unavailable')
      await before
      await closed
      await expectCode(closing.transact([{ sql, params: [] }]), 'storage_unavailable')
    })
  })
})
