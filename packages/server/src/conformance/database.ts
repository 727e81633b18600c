import {
  casesOf,
  expect,
  rejectionOf,
  type StoreCase,
  type StoreTest,
  uniqueId,
} from '@cairn/core/conformance'
import { type Database, type SqlValue, StatementConflict } from '../storage/database.ts'
import { insertStatements } from '../storage/statements.ts'

/** The contract of Database. Every driver passes it. Tables of its own are made in the database it is given. */
export const databaseCases: readonly StoreCase<Database>[] = casesOf((test) => {
  valueCases(test)
  transactionCases(test)
  raceCases(test)
  dialectCases(test)
  exclusiveCases(test)
})

type Test = StoreTest<Database>

function valueCases(test: Test): void {
  test('numbers up to 2^53 − 1, negative ones and zero come back as numbers', async (database) => {
    const table = await makeTable(database)
    const numbers = [0, 1, -1, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER]
    for (const [i, number] of numbers.entries())
      await database.transact([insert(table, [Uint8Array.of(i), number, Uint8Array.of()])])
    const rows = await database.query(`SELECT number FROM ${table} ORDER BY name`, [])
    expect(rows.map(({ number }) => number)).toEqual(numbers)
  })

  test('bytes come back as they are: none, every byte, 4 MiB, a part of a buffer', async (database) => {
    const table = await makeTable(database)
    const everyByte = Uint8Array.from({ length: 256 }, (_, i) => i)
    const values = [
      new Uint8Array(),
      everyByte,
      new Uint8Array(4 << 20).fill(0x27),
      everyByte.subarray(5, 9),
    ]
    for (const [i, bytes] of values.entries())
      await database.transact([insert(table, [Uint8Array.of(i), i, bytes])])
    const rows = await database.query(`SELECT bytes FROM ${table} ORDER BY name`, [])
    for (const [i, bytes] of values.entries())
      expect(Buffer.compare(rows[i]!['bytes'] as Uint8Array, bytes)).toBe(0)
  })

  test('NULL goes in and comes back', async (database) => {
    const table = await makeTable(database)
    await database.transact([insert(table, [Uint8Array.of(1), null, Uint8Array.of()])])
    const found = await database.query(`SELECT number FROM ${table} WHERE number IS NULL`, [])
    expect(found.map(({ number }) => number)).toEqual([null])
  })

  test('keys are bytes: case, spaces at the end and zeros tell them apart', async (database) => {
    const table = await makeTable(database)
    const names = ['a', 'A', 'a ', 'a\0', '', ' ', '\xff', '%', "'"]
    const keys = names.map((name) => Buffer.from(name, 'latin1'))
    await database.transact(
      insertStatements({
        table,
        columns: ['name', 'number', 'bytes'],
        rows: keys.map((key, i) => [key, i, key]),
      }),
    )
    for (const [i, key] of keys.entries()) {
      const rows = await database.query(`SELECT number FROM ${table} WHERE name = ?`, [key])
      expect(rows.map(({ number }) => number)).toEqual([i])
    }
    const sorted = await database.query(`SELECT name FROM ${table} ORDER BY name`, [])
    expect(sorted.map(({ name }) => Buffer.from(name as Uint8Array).toString('latin1'))).toEqual(
      names.sort(),
    )
  })

  test('LIMIT and comparisons take parameters', async (database) => {
    const table = await makeTable(database)
    for (let i = 0; i < 5; i++)
      await database.transact([insert(table, [Uint8Array.of(i), i, Uint8Array.of()])])
    const sql = `SELECT number FROM ${table} WHERE number > ? ORDER BY number LIMIT ?`
    const rows = await database.query(sql, [1, 2])
    expect(rows.map(({ number }) => number)).toEqual([2, 3])
    expect(await database.query(sql, [1, 0])).toEqual([])
  })
}

function transactionCases(test: Test): void {
  test('a transaction of nothing succeeds', async (database) => {
    await database.transact([])
  })

  test('all statements happen, in order', async (database) => {
    const table = await makeTable(database)
    const key = Uint8Array.of(1)
    await database.transact([
      insert(table, [key, 1, Uint8Array.of()]),
      { ...setNumber(table, key, 1, 2), expect: 1 },
      { ...setNumber(table, key, 2, 3), expect: 1 },
    ])
    expect(await numbersIn(database, table)).toEqual([3])
  })

  test('an update that meets another number of rows undoes everything before it', async (database) => {
    const table = await makeTable(database)
    await database.transact([insert(table, [Uint8Array.of(1), 1, Uint8Array.of()])])
    const attempt = database.transact([
      insert(table, [Uint8Array.of(2), 2, Uint8Array.of()]),
      { ...setNumber(table, Uint8Array.of(1), 77, 3), expect: 1 },
      insert(table, [Uint8Array.of(3), 3, Uint8Array.of()]),
    ])
    expect(await rejectionOf(attempt)).toMatchObject({ reason: 'row_count', statement: 1 })
    expect(await numbersIn(database, table)).toEqual([1])
  })

  test('an update to the same value has met its row', async (database) => {
    const table = await makeTable(database)
    await database.transact([insert(table, [Uint8Array.of(1), 1, Uint8Array.of()])])
    await database.transact([{ ...setNumber(table, Uint8Array.of(1), 1, 1), expect: 1 }])
  })

  test('a key that is taken undoes everything, and says which statement', async (database) => {
    const table = await makeTable(database)
    await database.transact([insert(table, [Uint8Array.of(1), 1, Uint8Array.of()])])
    const attempt = database.transact([
      insert(table, [Uint8Array.of(2), 2, Uint8Array.of()]),
      insert(table, [Uint8Array.of(1), 3, Uint8Array.of()]),
    ])
    const conflict = await rejectionOf(attempt)
    expect(conflict).toBeInstanceOf(StatementConflict)
    expect(conflict).toMatchObject({ reason: 'key_taken', statement: 1 })
    expect(await numbersIn(database, table)).toEqual([1])
  })

  test('a statement it does not understand is no conflict, and undoes everything', async (database) => {
    const table = await makeTable(database)
    const attempt = database.transact([
      insert(table, [Uint8Array.of(1), 1, Uint8Array.of()]),
      { sql: `INSERT INTO ${table}_absent (name) VALUES (?)`, params: [1] },
    ])
    expect((await rejectionOf(attempt)) instanceof StatementConflict).toBe(false)
    expect(await numbersIn(database, table)).toEqual([])
  })

  test('more bytes than one statement may hold go in together', async (database) => {
    const table = await makeTable(database)
    const rows = Array.from({ length: 5 }, (_, i) => [
      Uint8Array.of(i),
      i,
      new Uint8Array(4 << 20).fill(i),
    ])
    const statements = insertStatements({ table, columns: ['name', 'number', 'bytes'], rows })
    expect(statements.length > 1).toBe(true)
    await database.transact(statements)
    expect(await numbersIn(database, table)).toEqual([0, 1, 2, 3, 4])
  })
}

function raceCases(test: Test): void {
  test('of sixteen that compare and set, one wins each round', async (database) => {
    const table = await makeTable(database)
    const key = Uint8Array.of(1)
    await database.transact([insert(table, [key, 0, Uint8Array.of()])])
    for (let round = 0; round < 5; round++) {
      const results = await Promise.allSettled(
        Array.from({ length: 16 }, () =>
          database.transact([{ ...setNumber(table, key, round, round + 1), expect: 1 }]),
        ),
      )
      expect(results.filter(({ status }) => status === 'fulfilled').length).toBe(1)
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(StatementConflict)
    }
    expect(await numbersIn(database, table)).toEqual([5])
  })

  test('transactions that run at once each stand or fall alone', async (database) => {
    const table = await makeTable(database)
    await database.transact([insert(table, [Uint8Array.of(0), 0, Uint8Array.of()])])
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) =>
        database.transact([
          insert(table, [Uint8Array.of(1, i), i + 1, Uint8Array.of()]),
          ...(i % 3 === 0 ? [insert(table, [Uint8Array.of(0), 0, Uint8Array.of()])] : []),
          ...(i % 5 === 1 ? [{ sql: `DELETE FROM ${table}_absent`, params: [] }] : []),
        ]),
      ),
    )
    const good = results.map((_, i) => i).filter((i) => i % 3 !== 0 && i % 5 !== 1)
    expect(results.flatMap(({ status }, i) => (status === 'fulfilled' ? [i] : []))).toEqual(good)
    expect(await numbersIn(database, table)).toEqual([0, ...good.map((i) => i + 1)])
  })

  test('transactions that lock the same rows the other way round all succeed', async (database) => {
    const table = await makeTable(database)
    const keys = [Uint8Array.of(1), Uint8Array.of(2)]
    for (const key of keys) await database.transact([insert(table, [key, 0, Uint8Array.of()])])
    const raise = (key: Uint8Array): { sql: string; params: SqlValue[]; expect: number } => ({
      sql: `UPDATE ${table} SET number = number + 1 WHERE name = ?`,
      params: [key],
      expect: 1,
    })
    await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        database.transact((i % 2 === 0 ? keys : keys.toReversed()).map(raise)),
      ),
    )
    expect(await numbersIn(database, table)).toEqual([12, 12])
  })
}

function dialectCases(test: Test): void {
  test('an upsert replaces the named columns, or nothing', async (database) => {
    const table = await makeTable(database)
    const put = (onTaken: string, number: number): Promise<void> =>
      database.transact(
        insertStatements({
          table,
          columns: ['name', 'number', 'bytes'],
          rows: [[Uint8Array.of(1), number, Uint8Array.of(number)]],
          onTaken,
        }),
      )
    const { dialect } = database
    await put(dialect.onTaken(['name'], []), 1)
    await put(dialect.onTaken(['name'], []), 2)
    expect(await numbersIn(database, table)).toEqual([1])
    await put(dialect.onTaken(['name'], ['number']), 3)
    const [row] = await database.query(`SELECT number, bytes FROM ${table}`, [])
    expect(row!['number']).toBe(3)
    expect(row!['bytes']).toEqual(Uint8Array.of(1))
  })
}

function exclusiveCases(test: Test): void {
  test('exclusive work runs one at a time, and a failure makes way', async (database) => {
    let running = 0
    const work = async (): Promise<void> => {
      expect(++running).toBe(1)
      await database.query('SELECT 1', [])
      running--
    }
    const name = uniqueId().slice(0, 8)
    const failed = database.exclusively(name, async () => {
      throw new Error('on purpose')
    })
    expect(await rejectionOf(failed)).toMatchObject({ message: 'on purpose' })
    await Promise.all([1, 2, 3].map(() => database.exclusively(name, work)))
  })
}

async function makeTable(database: Database): Promise<string> {
  const table = `t_${uniqueId().replaceAll('-', '')}`
  const { types, tableEnd } = database.dialect
  const columns = `name ${types.key} NOT NULL PRIMARY KEY, number ${types.integer}, bytes ${types.bytes} NOT NULL`
  await database.transact([
    { sql: `CREATE TABLE IF NOT EXISTS ${table} (${columns}) ${tableEnd}`, params: [] },
  ])
  return table
}

function insert(table: string, row: SqlValue[]): { sql: string; params: SqlValue[] } {
  return { sql: `INSERT INTO ${table} (name, number, bytes) VALUES (?, ?, ?)`, params: row }
}

function setNumber(
  table: string,
  name: Uint8Array,
  from: number,
  to: number,
): { sql: string; params: SqlValue[] } {
  return {
    sql: `UPDATE ${table} SET number = ? WHERE name = ? AND number = ?`,
    params: [to, name, from],
  }
}

async function numbersIn(database: Database, table: string): Promise<readonly SqlValue[]> {
  const rows = await database.query(`SELECT number FROM ${table} ORDER BY number`, [])
  return rows.map(({ number }) => number!)
}
