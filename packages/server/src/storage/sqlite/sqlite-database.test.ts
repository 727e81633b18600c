import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectCode } from '@cairn/core/conformance'
import { runTableTests } from '../../../test/table-tests.ts'
import {
  makeTemporaryDirectory,
  removeDirectory,
  withTemporaryDirectory,
} from '../../conformance/temporary-directory.ts'
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

  it('empty bytes are stored as bytes, not as NULL', async () => {
    await withTemporaryDirectory(async (directory) => {
      const database = await SqliteDatabase.open(join(directory, 'empty.db'))
      await database.transact([{ sql: 'CREATE TABLE t (name BLOB NOT NULL)', params: [] }])
      await database.transact([{ sql: 'INSERT INTO t VALUES (?)', params: [new Uint8Array(0)] }])
      const sql = 'SELECT typeof(name) AS stored, typeof(?) AS asked FROM t'
      expect(await database.query(sql, [new TextEncoder().encode('')])).toEqual([
        { stored: 'blob', asked: 'blob' },
      ])
      await database.close()
    })
  })

  it('requests during a close are refused, and the close completes', async () => {
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
