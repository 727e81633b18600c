import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { runTableTests } from '../../testing/table-tests.ts'
import { makeTemporaryDirectory, removeDirectory } from '../../testing/temporary-directory.ts'
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
})
