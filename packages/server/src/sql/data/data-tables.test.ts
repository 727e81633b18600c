import type { IssuedToken, SqlAnswer } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { parquetByCompression, parquetOfAllSorts } from '../../../test/parquet-fixture.ts'
import { sqlFixture } from '../../../test/sql-fixture.ts'
import { readParquet } from './parquet.ts'

const { app, headers, make, post, rows, ask } = sqlFixture()

async function refusal(root: string, sql: string, key?: string): Promise<object> {
  const answer = await ask(root, sql, {}, key)
  expect(answer.statusCode, answer.body).toBe(400)
  const { code, reason, hint } = answer.json().error
  return { code, reason, hint }
}

async function typesOf(root: string, file: string, columns: readonly string[]): Promise<unknown> {
  const list = columns.map((column) => `group_concat(distinct typeof("${column}"))`)
  return (await rows(root, `select ${list.join(', ')} from ${file}`))[0]
}

describe('read_csv', () => {
  it('names columns by the first row, and finds their types', async () => {
    const root = await make({
      '/a.csv':
        'id,name,price,zip,note\r\n1,"Smith, ""Ann""",2.50,007,\r\n-2,"two\nlines",1e3,12,\r\n',
    })
    const answer = (await ask(root, "select * from read_csv('/a.csv')")).json<SqlAnswer>()
    expect(answer).toEqual({
      columns: ['id', 'name', 'price', 'zip', 'note'],
      rows: [
        [1, 'Smith, "Ann"', 2.5, '007', null],
        [-2, 'two\nlines', 1000, '12', null],
      ],
      truncated: null,
    })
    expect(await typesOf(root, "read_csv('/a.csv')", ['id', 'price', 'zip', 'note'])).toEqual([
      'integer',
      'real',
      'text',
      'null',
    ])
  })

  it('joins files with each other and with the tree, each read once', async () => {
    const root = await make({
      '/users.csv': 'id,name\n1,ann\n2,bob\n',
      "/o'rders.csv": 'user,path\n2,/users.csv\n2,/nowhere\n',
    })
    const sql = `select u.name, f.size from read_csv('/o''rders.csv') o
      join READ_CSV( '/users.csv' ) u on u.id = o.user left join files f on f.path = o.path
      where exists (select 1 from read_csv('/users.csv')) order by f.size desc`
    expect(await rows(root, sql)).toEqual([
      ['bob', 20],
      ['bob', null],
    ])
  })

  it('takes tabs in a .tsv, short rows, empty lines, no newline at the end, and a mark at the beginning', async () => {
    const root = await make({ '/a.tsv': '\ufeffa\tb\n1,5\t\n\nx', '/none.csv': 'a,b' })
    expect(await rows(root, "select a, b from read_csv('/a.tsv')")).toEqual([
      ['1,5', null],
      ['x', null],
    ])
    expect(await rows(root, "select a, b from read_csv('/none.csv')")).toEqual([])
  })

  it('gives columns without a name, or with one that is taken, a name of their own', async () => {
    const root = await make({ '/a.csv': 'a,,A,"x""y; drop table files"\n1,2,3,4\n' })
    const { columns } = (await ask(root, "select * from read_csv('/a.csv')")).json<SqlAnswer>()
    expect(columns).toEqual(['a', 'column_2', 'A_2', 'x"y; drop table files'])
  })

  it.each([
    ['an open quote', 'a,b\n1,"x\n', 'row 2 has a quote that is not closed'],
    ['a row that is too long', 'a\n1\n2,3\n', 'row 3 has 2 fields, and the first row 1'],
    ['an empty file', '', 'it is empty, so it has no columns'],
    ['too many columns', `${'a,'.repeat(200)}a\n`, 'it has 201 columns, and a table at most 200'],
  ])('refuses %s', async (_what, text, reason) => {
    const root = await make({ '/a.csv': text })
    expect(await refusal(root, "select * from read_csv('/a.csv')")).toMatchObject({
      code: 'invalid_argument',
      reason: `/a.csv cannot be read as csv: ${reason}`,
    })
  })
})

describe('read_json', () => {
  const objects = [
    { id: 1, ok: true, tags: ['a'], big: 2 ** 60 },
    { id: 2.5, more: { x: null } },
  ]

  it.each([
    ['an array', JSON.stringify(objects, null, 2)],
    ['one object a line', `${objects.map((each) => JSON.stringify(each)).join('\n\n')}\n`],
  ])('reads %s', async (_what, text) => {
    const root = await make({ '/a.json': text })
    const answer = (await ask(root, "select * from read_json('/a.json')")).json<SqlAnswer>()
    expect(answer.columns).toEqual(['id', 'ok', 'tags', 'big', 'more'])
    expect(answer.rows).toEqual([
      [1, 1, '["a"]', 2 ** 60, null],
      [2.5, null, null, null, '{"x":null}'],
    ])
    expect(await rows(root, "select typeof(id), 7 / id from read_json('/a.json')")).toEqual([
      ['integer', 7],
      ['real', 2.8],
    ])
  })

  it('puts values that are no objects into the column value', async () => {
    const root = await make({ '/a.json': '[1, "x", null, [2]]' })
    expect(await rows(root, "select value from read_json('/a.json')")).toEqual([
      [1],
      ['x'],
      [null],
      ['[2]'],
    ])
  })

  it('says which line is no JSON', async () => {
    const root = await make({ '/a.jsonl': '{"a":1}\n{"a":\n' })
    expect(await refusal(root, "select * from read_json('/a.jsonl')")).toMatchObject({
      reason: '/a.jsonl cannot be read as json: line 2 is not JSON, and the file as a whole is not',
    })
  })
})

describe('read_parquet', () => {
  async function makeParquet(base64: string): Promise<string> {
    const root = await make({})
    await post(`${root}/batch`, { operations: [{ op: 'write', path: '/a.parquet', base64 }] })
    return root
  }

  it('reads numbers, texts, times, lists and bytes', async () => {
    const root = await makeParquet(parquetOfAllSorts)
    const sql = "select id, name, score, big, at, tags, ok from read_parquet('/a.parquet')"
    expect(await rows(root, sql)).toEqual([
      [1, 'ann', 1.5, '9007199254740993', '2026-11-19T12:00:00.000Z', '["a","b"]', 1],
      [2, 'bob', 2, 2, null, '[]', 0],
      [3, null, null, 3, '2026-11-20T00:00:00.000Z', null, null],
    ])
  })

  it.each(['gzip', 'zstd'] as const)('reads what was compressed with %s', async (compression) => {
    const root = await makeParquet(parquetByCompression[compression])
    expect(await rows(root, "select id, name from read_parquet('/a.parquet')")).toEqual([
      [1, 'ann'],
      [2, 'bob'],
      [3, null],
    ])
  })

  it('names a compression that it does not know, and what is no Parquet', async () => {
    const root = await makeParquet(parquetByCompression.lz4)
    const sql = "select * from read_parquet('/a.parquet')"
    expect(await refusal(root, sql)).toMatchObject({ reason: expect.stringContaining('LZ4') })
    const other = await makeParquet(Buffer.from('no such thing').toString('base64'))
    expect(await refusal(other, sql)).toMatchObject({
      reason: expect.stringContaining('/a.parquet cannot be read as parquet: '),
    })
  })

  it('says what to install where the package is absent', async () => {
    const absent = Promise.reject(new Error("Cannot find package 'hyparquet'"))
    await expect(readParquet(new Uint8Array(), () => absent)).rejects.toMatchObject({
      message: expect.stringContaining('hyparquet'),
      hint: expect.stringContaining('npm install --global hyparquet@1'),
    })
  })
})

describe('a file as a table', () => {
  it('a file as a table is that of the point that is asked', async () => {
    const root = await make({ '/data/a.csv': 'n\n1\n' })
    await post(`${root}/layers`, { name: 'a', path: '/data' })
    await post(`${root}/layers/a/checkpoints`, { id: 'before' })
    const write = { op: 'write', path: '/data/a.csv', text: 'n\n2\n' }
    await post(`${root}/batch?layer=a`, { operations: [write] })
    const sql = "select n from read_csv('/data/a.csv')"
    expect(await rows(root, sql)).toEqual([[1]])
    expect(await rows(root, sql, { layer: 'a' })).toEqual([[2]])
    expect(await rows(root, sql, { layer: 'a', at: 'before' })).toEqual([[1]])
  })

  it('a file as a table is not there for a token that may not read it, as one that does not exist', async () => {
    const root = await make({ '/open/a.csv': 'n\n1\n', '/shut/b.csv': 'n\n2\n' })
    await post(`${root}/batch`, {
      operations: [{ op: 'symlink', path: '/open/link', target: '/shut/b.csv' }],
    })
    const { secret } = await post<IssuedToken>(`${root}/tokens`, {
      name: 't',
      ttlMs: 60_000,
      allow: [
        { path: '/open', operations: ['read', 'list', 'search'] },
        { path: '/shut', operations: ['list'] },
      ],
    })
    const read = (path: string): string => `select n from read_csv('${path}')`
    expect((await ask(root, read('/open/a.csv'), {}, secret)).json().rows).toEqual([[1]])
    for (const path of ['/shut/b.csv', '/open/link', '/absent/c.csv', '/open', 'x\0y'])
      expect(await refusal(root, read(path), secret)).toEqual({
        code: 'invalid_argument',
        reason: `no such file: ${path}`,
        hint: "Give a file's path in the workspace, such as /data/a.csv.",
      })
  })

  it('a file as a table is whole, also where it has several megabytes', async () => {
    const root = await make({})
    const lines = Array.from({ length: 300_000 }, (_, at) => `${at},some text`)
    const [url, payload] = [`${root}/files/a.csv`, `n,t\n${lines.join('\n')}\n`]
    await app.inject({ method: 'PUT', url, headers, payload })
    const sql = "select count(*), sum(n), count(distinct t) from read_csv('/a.csv')"
    expect(await rows(root, sql)).toEqual([[300_000, 44_999_850_000, 1]])
  })

  it('lists its columns where a statement names another', async () => {
    const root = await make({ '/a.csv': 'one,two\n1,2\n' })
    expect(await refusal(root, "select three from read_csv('/a.csv')")).toMatchObject({
      reason: 'no such column: three',
      hint: expect.stringContaining("read_csv('/a.csv')(one, two)"),
    })
  })

  it('a file as a table is refused where it is large, and where there are more than four', async () => {
    const root = await make({})
    const url = `${root}/files/large.csv`
    await app.inject({ method: 'PUT', url, headers, payload: Buffer.alloc(33 << 20, '1') })
    expect(await refusal(root, "select * from read_csv('/large.csv')")).toMatchObject({
      reason: '/large.csv has more than 32 MiB',
    })
    const five = [1, 2, 3, 4, 5].map((at) => `select * from read_csv('/${at}.csv')`)
    expect(await refusal(root, five.join(' union all '))).toMatchObject({
      reason: 'it reads 5 files as tables, and at most 4 may be read',
    })
  })

  it('a scalar json() and text in quotes are what they were', async () => {
    const root = await make({})
    const sql = "select json('[1, 2]'), 'read_csv(''/a.csv'')' -- read_csv('/a.csv')"
    expect(await rows(root, sql)).toEqual([['[1,2]', "read_csv('/a.csv')"]])
  })
})
