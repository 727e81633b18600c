import type { IssuedToken, SqlAnswer } from '@cairn/protocol'
import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sqlFixture } from '../../test/sql-fixture.ts'

const { app, headers, make, post, rows, ask } = sqlFixture()

const files = { '/repo/a.ts': 'one\n', '/repo/b.ts': 'three\n', '/repo/doc/c.md': 'TODO\n' }
const paths = 'select path from files order by path'

function issue(root: string, rules: object): Promise<IssuedToken> {
  return post<IssuedToken>(`${root}/tokens`, { name: 't', ttlMs: 60_000, ...rules })
}

describe('files', () => {
  it('the table files has a row for each entry, with its name, extension, kind and size', async () => {
    const root = await make(files)
    expect(await rows(root, 'select path, name, ext, kind, size from files order by path')).toEqual(
      [
        ['/repo', 'repo', '', 'directory', 3],
        ['/repo/a.ts', 'a.ts', 'ts', 'file', 4],
        ['/repo/b.ts', 'b.ts', 'ts', 'file', 6],
        ['/repo/doc', 'doc', '', 'directory', 1],
        ['/repo/doc/c.md', 'c.md', 'md', 'file', 5],
      ],
    )
  })

  it('shows the next change', async () => {
    const root = await make(files)
    await rows(root, paths)
    await post(`${root}/batch`, {
      operations: [
        { op: 'write', path: '/repo/a.ts', text: 'longer\n' },
        { op: 'remove', path: '/repo/b.ts' },
        { op: 'write', path: '/new.txt', text: '' },
      ],
    })
    expect(await rows(root, "select path, size from files where kind = 'file' order by 1")).toEqual(
      [
        ['/new.txt', 0],
        ['/repo/a.ts', 7],
        ['/repo/doc/c.md', 5],
      ],
    )
  })

  it('the table files has the text of those that are UTF-8', async () => {
    const root = await make(files)
    await post(`${root}/batch`, {
      operations: [{ op: 'write', path: '/binary', base64: '/wD/' }],
    })
    const sql = "select path, text from files where kind = 'file' and name in ('binary', 'c.md')"
    expect(await rows(root, `${sql} order by path`)).toEqual([
      ['/binary', null],
      ['/repo/doc/c.md', 'TODO\n'],
    ])
    expect(await rows(root, "select name from files where text like '%hre%'")).toEqual([['b.ts']])
  })

  it('the table files has a hash that equal contents share, however they were written, and SHA-256 of small ones', async () => {
    const root = await make({ '/a': 'one\n', '/b': 'one\n', '/c': 'two\n', '/empty': '' })
    const large = 'x'.repeat(600_000)
    await post(`${root}/batch`, {
      operations: [
        { op: 'write', path: '/l1', text: large },
        { op: 'write', path: '/l2', text: 'y' },
        { op: 'write', path: '/l3', text: `${large}y` },
      ],
    })
    for (const part of ['x'.repeat(300_000), 'x'.repeat(300_000)])
      await app.inject({ method: 'POST', url: `${root}/files/l4?append`, headers, payload: part })
    const hashes = Object.fromEntries(
      (await rows(root, 'select path, hash from files')) as [string, string][],
    )
    expect(hashes['/a']).toBe(hash('sha256', 'one\n'))
    expect(hashes['/empty']).toBe(hash('sha256', ''))
    expect([hashes['/b'], hashes['/l4']]).toEqual([hashes['/a'], hashes['/l1']])
    expect(new Set(Object.values(hashes)).size).toBe(6)
    expect(await rows(root, "select hash from files where kind = 'directory'")).toEqual([])
  })

  it('the table files has tags, as JSON and as a table of their own', async () => {
    const root = await make(files)
    const tag = (path: string, tags: object): object => ({ op: 'tag', path, tags })
    await rows(root, paths)
    await post(`${root}/batch`, {
      operations: [
        tag('/repo/a.ts', { reviewed: 'yes', by: "o'neil" }),
        tag('/repo/doc', { reviewed: 'no' }),
      ],
    })
    expect(
      await rows(
        root,
        "select path, tags ->> 'reviewed' from files where tags is not null order by 1",
      ),
    ).toEqual([
      ['/repo/a.ts', 'yes'],
      ['/repo/doc', 'no'],
    ])
    expect(await rows(root, 'select * from tags order by path, name')).toEqual([
      ['/repo/a.ts', 'by', "o'neil"],
      ['/repo/a.ts', 'reviewed', 'yes'],
      ['/repo/doc', 'reviewed', 'no'],
    ])
    expect(await rows(root, 'select count(*) from tags')).toEqual([[3]])
    const join = "select f.name from files f join tags t using (path) where t.name = 'by'"
    expect(await rows(root, join)).toEqual([['a.ts']])
    await post(`${root}/batch`, { operations: [tag('/repo/doc', { reviewed: null })] })
    expect(await rows(root, 'select distinct path from tags')).toEqual([['/repo/a.ts']])
  })

  it('the table files has the files of a layer and of a checkpoint where one is named', async () => {
    const root = await make(files)
    await post(`${root}/layers`, { name: 'a', path: '/repo' })
    await post(`${root}/layers/a/checkpoints`, { id: 'before' })
    await post(`${root}/batch?layer=a`, { operations: [{ op: 'remove', path: '/repo/a.ts' }] })
    const count = "select count(*) from files where ext = 'ts'"
    expect(await rows(root, count)).toEqual([[2]])
    expect(await rows(root, count, { layer: 'a' })).toEqual([[1]])
    expect(await rows(root, count, { layer: 'a', at: 'before' })).toEqual([[2]])
  })

  it('names who changed a path last, also where a commit brought the change', async () => {
    const root = await make(files)
    await post(`${root}/layers`, { name: 'a', path: '/repo' })
    const token = await issue(root, { allow: [{ path: '/repo', operations: ['read', 'write'] }] })
    const change = { operations: [{ op: 'write', path: '/repo/a.ts', text: 'by the token\n' }] }
    await app.inject({
      method: 'POST',
      url: `${root}/batch?layer=a`,
      headers: { authorization: `Bearer ${token.secret}` },
      payload: change,
    })
    await post(`${root}/layers/a/commit`, {})
    expect(
      await rows(root, "select path, actor from files where kind = 'file' order by path"),
    ).toEqual([
      ['/repo/a.ts', token.id],
      ['/repo/b.ts', 'key_1'],
      ['/repo/doc/c.md', 'key_1'],
    ])
  })
})

describe('other tables', () => {
  it("changes('FROM', 'TO') has what differs between two points", async () => {
    const root = await make(files)
    await post(`${root}/layers`, { name: 'a', path: '/repo' })
    await post(`${root}/batch?layer=a`, {
      operations: [
        { op: 'write', path: '/repo/a.ts', text: 'changed\n' },
        { op: 'remove', path: '/repo/b.ts' },
      ],
    })
    const sql =
      "select f.path, c.kind from files f join changes('base','head') c using (path) where c.kind = 'modified' and f.kind = 'file'"
    expect(await rows(root, sql, { layer: 'a' })).toEqual([['/repo/a.ts', 'modified']])
    await post(`${root}/layers/a/checkpoints`, { label: 'then' })
    await post(`${root}/batch?layer=a`, { operations: [{ op: 'remove', path: '/repo/a.ts' }] })
    expect(await rows(root, sql, { layer: 'a' })).toEqual([])
    const since = sql.replace("'head'", "'then'")
    expect(await rows(root, since, { at: 'then' })).toEqual([['/repo/a.ts', 'modified']])
  })

  it('log, layers and checkpoints have what the API lists', async () => {
    const root = await make(files)
    await post(`${root}/layers`, { name: 'a', path: '/repo', tags: { task: 'x' } })
    await post(`${root}/layers/a/checkpoints`, { id: 'green', label: 'tests pass' })
    expect(await rows(root, "select count(distinct path) from log where op = 'create'")).toEqual([
      [3],
    ])
    expect(await rows(root, "select name, state, tags ->> 'task' from layers")).toEqual([
      ['a', 'open', 'x'],
    ])
    expect(await rows(root, 'select id, label from checkpoints', { layer: 'a' })).toEqual([
      ['green', 'tests pass'],
    ])
  })
})

describe('refuses', () => {
  it.each([
    ['a change', 'delete from files'],
    ['a new table', 'create table t(a)'],
    ['a pragma', 'pragma database_list'],
    ['a pragma as a table', 'select * from pragma_database_list'],
    ['another database', "attach '/etc/passwd' as x"],
    ['the schema', 'select * from sqlite_master'],
    ['the table behind files', 'select * from entries'],
    ['the table of actors', 'select * from actors'],
    ['another database by its name', 'select * from tree.entries'],
    ['a table behind tags', 'select entries.hash from tags'],
    ['content by number', "select content_of(2, 'file')"],
    ['an extension', "select load_extension('x')"],
    ['a second statement', 'select 1; select 2'],
    ['an unknown column', 'select nothing from files'],
    ['no statement', '-- nothing'],
  ])('%s', async (_what, sql) => {
    const root = await make({})
    const answer = await ask(root, sql)
    expect(answer.statusCode, answer.body).toBe(400)
    expect(answer.json().error.code).toBe('invalid_argument')
  })

  it('says which tables there are', async () => {
    const root = await make({})
    const { error } = (await ask(root, 'select * from file')).json()
    expect(error).toMatchObject({ reason: 'no such table: file' })
    expect(error.hint).toContain('files(path, name, ext,')
  })
})

it('a statement ends with a semicolon, and quotes and comments are not read as SQL', async () => {
  const root = await make({})
  expect(await rows(root, "select ';' /* ; */; -- done")).toEqual([[';']])
  expect(await rows(root, "select 'changes(''a'',''b'')'")).toEqual([["changes('a','b')"]])
})

it('gives at most so many rows, and says that there are more', async () => {
  const root = await make(files)
  const answer = (await ask(root, paths, { limit: '2' })).json<SqlAnswer>()
  expect(answer).toMatchObject({ rows: [['/repo'], ['/repo/a.ts']], truncated: 'rows' })
})

it('integers beyond 2^53 are text, and bytes are base64', async () => {
  const root = await make({})
  expect(await rows(root, "select 9007199254740993, x'00ff', 1.5, null")).toEqual([
    ['9007199254740993', { base64: 'AP8=' }, 1.5, null],
  ])
})

describe('a token', () => {
  it('sees in no table and no count what it does not see elsewhere', async () => {
    const root = await make({ ...files, '/secret/key.ts': 'hidden\n' })
    await post(`${root}/layers`, { name: 'hidden', path: '/secret' })
    const token = await issue(root, {
      allow: [{ path: '/repo/doc', operations: ['read', 'list', 'search'] }],
    })
    const asked = async (sql: string): Promise<unknown> =>
      (await ask(root, sql, {}, token.secret)).json().rows
    expect(await asked(paths)).toEqual([['/repo'], ['/repo/doc'], ['/repo/doc/c.md']])
    expect(await asked("select count(*) from files where ext = 'ts'")).toEqual([[0]])
    expect(await asked("select path from files where text like '%hidden%'")).toEqual([])
    expect(await asked('select distinct actor from files')).toEqual([['key_1']])
    expect(await asked("select count(*) from log where path not like '/repo/doc%'")).toEqual([[0]])
    expect(await asked('select count(*) from layers')).toEqual([[0]])
    await post(`${root}/batch`, {
      operations: ['/secret/key.ts', '/repo/doc/c.md'].map((path) => ({
        op: 'tag',
        path,
        tags: { of: path },
      })),
    })
    expect(await asked('select value from tags')).toEqual([['/repo/doc/c.md']])
    const refusal = await ask(root, 'select count(*) from journal', {}, token.secret)
    expect(refusal.json().error.code).toBe('forbidden')
  })

  it('a token that may list but not read a file gets neither its text nor its hash', async () => {
    const root = await make(files)
    const token = await issue(root, {
      allow: [
        { path: '/repo', operations: ['list'] },
        { path: '/repo/doc', operations: ['read', 'list', 'search'] },
      ],
    })
    const sql = "select name, text is null, hash is null from files where kind = 'file' order by 1"
    expect((await ask(root, sql, {}, token.secret)).json<SqlAnswer>().rows).toEqual([
      ['a.ts', 1, 1],
      ['b.ts', 1, 1],
      ['c.md', 0, 0],
    ])
  })

  it('sees the rows that it can list, whatever its rules', async () => {
    const root = await make({ '/a': '', '/b/c': '', '/b/d/e': '', '/g/h': '' })
    const places = ['/', '/a', '/b', '/b/d', '/b/d/e', '/g'] as const
    const rule = fc.record({
      path: fc.constantFrom(...places),
      operations: fc.constant(['read', 'list', 'search']),
    })
    const rules = fc.array(rule, { minLength: 1, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(
        rules,
        fc.subarray(places.slice(1), { maxLength: 2 }),
        async (allow, deny) => {
          const token = await issue(root, { allow, deny })
          const listed = await app.inject({
            method: 'GET',
            url: `${root}/files/?list&recursive&limit=1000`,
            headers: { authorization: `Bearer ${token.secret}` },
          })
          const seen = listed.json<{ items?: { path: string }[] }>().items ?? []
          const answer = await ask(root, paths, {}, token.secret)
          const found = answer.statusCode === 200 ? answer.json<SqlAnswer>().rows : []
          expect(found.map(([path]) => path)).toEqual(seen.map(({ path }) => path).toSorted())
        },
      ),
      { seed: 7, numRuns: 20 * Number(process.env['CAIRN_RUNS'] ?? 1) },
    )
  })
})

describe('the database of a tree', () => {
  const path = fc.constantFrom('/a', '/b', '/d/a', '/d/e/a', '/d', '/d/e', '/new/x')
  const change = fc.oneof(
    fc.record({ op: fc.constant('write'), path, text: fc.string(), parents: fc.constant(true) }),
    fc.record({ op: fc.constant('remove'), path, recursive: fc.constant(true) }),
    fc.record({ op: fc.constant('move'), path, to: path }),
    fc.record({ op: fc.constant('chmod'), path, mode: fc.constant('0600') }),
    fc.record({ op: fc.constant('tag'), path, tags: fc.constant({ k: 'v' }) }),
  )

  it('after random changes: has the rows that a new one has', async () => {
    const all =
      'select path, ext, kind, size, mode, ino, mtime, version, hash, tags, text from files order by path'
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 4 }),
        async (steps) => {
          const root = await make({ '/a': 'x', '/d/a': 'y', '/d/e/a': 'z' })
          await rows(root, all)
          for (const operations of steps) {
            for (const operation of operations)
              await app.inject({
                method: 'POST',
                url: `${root}/batch`,
                headers,
                payload: { operations: [operation] },
              })
            await rows(root, all)
          }
          const fresh = await post<{ name: string }>(`${root}/fork`, {
            name: `${root.split('/').at(-1)}-fork`,
          })
          expect(await rows(`/v1/workspaces/${fresh.name}`, all)).toEqual(await rows(root, all))
        },
      ),
      { numRuns: 15 * Number(process.env['CAIRN_RUNS'] ?? 1) },
    )
  })
})
