import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ChildProgram } from '../../../test/programs/child-program.ts'
import { MariadbServer, whyNoMariadb } from '../../testing/servers/mariadb.ts'
import { type MysqlServer, startMysql, whyNoMysql } from '../../testing/servers/mysql.ts'
import { expectCode } from '@cairn/core/conformance'
import { runTableTests } from '../../../test/table-tests.ts'
import { waitUntil } from '../../testing/wait-until.ts'
import { migrate } from '../migrate.ts'
import { migrations } from '../schema.ts'
import { parseMysqlUrl } from './config.ts'
import { MysqlDatabase } from './mysql-database.ts'
import { findWeakness } from './weakness.ts'

describe.skipIf(whyNoMysql)(`MySQL ${whyNoMysql ?? ''}`, () => {
  let server: MysqlServer
  let database: MysqlDatabase
  beforeAll(async () => {
    server = await startMysql()
    database = await MysqlDatabase.open(parseMysqlUrl(await server.createDatabase()))
    await migrate(database)
  })
  afterAll(async () => {
    await database?.close()
    await server?.stop()
  })
  runTableTests(() => database)

  it('three servers that start together on an empty database migrate it once', async () => {
    const url = await server.createDatabase()
    const programs = [1, 2, 3].map(() => new ChildProgram('migrate-database', [url]))
    try {
      for (const each of programs)
        await waitUntil('a program is ready', () => each.lines.includes('ready'))
      for (const each of programs) each.endInput()
      for (const each of programs) expect(await each.end()).toBe(0)
    } finally {
      for (const each of programs) await each.kill()
    }
    for (const { lines } of programs) expect(lines).toEqual(['ready', 'done'])
    const migrated = await MysqlDatabase.open(parseMysqlUrl(url))
    const rows = await migrated.query('SELECT version FROM migrations ORDER BY version', [])
    expect(rows.map(({ version }) => version)).toEqual(migrations.map(({ version }) => version))
    await migrated.close()
  })
})

describe.skipIf(whyNoMariadb)(`MariaDB ${whyNoMariadb ?? ''}`, () => {
  let server: MariadbServer
  beforeAll(async () => {
    server = await MariadbServer.start()
  })
  afterAll(() => server?.stop())

  it.each([
    [0, true],
    [1, false],
    [2, true],
  ])('innodb_flush_log_at_trx_commit = %i is warned of: %s', async (value, isWeak) => {
    await server.run(`SET GLOBAL innodb_flush_log_at_trx_commit = ${value}`)
    const database = await MysqlDatabase.open(parseMysqlUrl(await server.createDatabase()))
    try {
      const weakness = await findWeakness(database, 'mysql://here')
      if (isWeak)
        expect(weakness).toContain(
          `mysql://here has innodb_flush_log_at_trx_commit = ${value}: a crash of its machine loses`,
        )
      else expect(weakness).toBe(undefined)
    } finally {
      await database.close()
      await server.run('SET GLOBAL innodb_flush_log_at_trx_commit = 1')
    }
  })

  it('a value that is too long is refused, also on a server that would truncate it', async () => {
    await server.run("SET GLOBAL sql_mode = ''")
    const lenient = await MysqlDatabase.open(parseMysqlUrl(await server.createDatabase()))
    try {
      const sql = 'CREATE TABLE t (name VARBINARY(4) NOT NULL PRIMARY KEY)'
      await lenient.transact([{ sql, params: [] }])
      const insert = { sql: 'INSERT INTO t (name) VALUES (?)', params: [new Uint8Array(5)] }
      await expect(lenient.transact([insert])).rejects.toThrow(/too long/)
      expect(await lenient.query('SELECT name FROM t', [])).toEqual([])
    } finally {
      await lenient.close()
    }
  })

  const refused = { 'an unknown user': 'unknown', 'a database that is not there': 'root' }
  for (const [what, user] of Object.entries(refused))
    it(`${what} is storage_misconfigured`, async () => {
      const url = `mysql://${user}@127.0.0.1:${server.port}/absent`
      await expectCode(MysqlDatabase.open(parseMysqlUrl(url)), 'storage_misconfigured')
    })
})
