// SQL from the holder of a narrow token: a statement is text of theirs that runs beside the server's data.
import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../e2e/start-server.ts'

interface Answer {
  readonly rows?: readonly (readonly unknown[])[]
  readonly error?: { readonly code: string; readonly reason: string }
}

describe('a statement of a token that searches /src', { timeout: 60_000 }, () => {
  let server: TestServer
  let key: string
  const own = (method: string, path: string, body?: string): Promise<Response> =>
    fetch(`${server.url}/v1/workspaces${path}`, {
      method,
      headers: { authorization: `Bearer ${server.apiKey}` },
      ...(body === undefined ? {} : { body }),
    })
  const ask = async (sql: string): Promise<Answer> => {
    const url = `${server.url}/v1/workspaces/w/sql?sql=${encodeURIComponent(sql)}`
    const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
    return (await answer.json()) as Answer
  }

  beforeAll(async () => {
    server = await startServer()
    await own('POST', '', '{"name":"w"}')
    await own('PUT', '/w/files/src/a', 'open words')
    for (const name of ['b', 'c', 'd']) await own('PUT', `/w/files/dark/${name}`, 'hidden words')
    await own('PUT', '/w/files/dark/b?tag=hidden%3Ddark', 'hidden words')
    await own('POST', '/w/journals', '{"id":"dusk"}')
    await own('POST', '/w/journals/dusk/entries', '{"entries":[{"type":"hidden"}]}')
    await own('POST', '/w/layers', '{"name":"dusk","path":"/dark"}')
    const allow = [{ path: '/src', operations: ['read', 'list', 'search'] }]
    const body = JSON.stringify({ name: 't', ttlMs: 1e6, allow })
    key = ((await (await own('POST', '/w/tokens', body)).json()) as { secret: string }).secret
  }, 60_000)
  afterAll(() => server.stop())

  it.each([
    ['all that it may name', 'select * from files, log left join layers'],
    [
      'the actors behind files, counted',
      'select count(*), (select max(actor) from files) from actors',
    ],
    [
      'the actors behind files, under a table of its own that has the name of ours',
      'with files as (select path, actor from main.actors) select path, actor from files union all select path, actor from temp.files',
    ],
    [
      'the entries behind files, likewise',
      'with files as (select path, ino from tree.entries) select path, ino from files',
    ],
    [
      'the tags behind the table of that name, likewise',
      'with tags as (select path, hash, tags from tree.entries) select path, hash, tags from tags',
    ],
    [
      'content by its number, likewise',
      `with recursive n(x) as (select 1 union all select x + 1 from n where x < 50),
        files(t) as (select content_of(x, 'file') from n) select t from files where t is not null`,
    ],
  ])('%s: nothing of what is hidden', async (_title, sql) => {
    const { rows, error } = await ask(sql)
    const text = JSON.stringify(rows ?? [])
    expect(text).not.toMatch(/dark|hidden|dusk/)
    if (error) expect(error.code).toBe('invalid_argument')
  })

  it.each([
    'select type from journal',
    'with files as (select * from journal) select type from files',
    'with tags as (select count(*) as n from main.journal) select n from tags',
  ])('%s: journals are for owners', async (sql) => {
    expect((await ask(sql)).error?.code).toBe('forbidden')
  })

  it('counts what it sees, and not what there is', async () => {
    const counts = [
      'select count(*) from files',
      'select count(*) from actors',
      'select count(*) from log',
      'select count(*) from layers',
      'select count(*) from tree.entries',
    ]
    const sum = counts.map((count) => `(${count})`).join(', ')
    const before = await ask(`select ${sum}, (select max(actor) from files)`)
    expect(before.rows ?? before.error).toBeDefined()
    for (const name of ['x', 'y']) await own('PUT', `/w/files/dark/${name}`, 'more')
    await own('POST', '/w/layers', '{"path":"/dark"}')
    expect(await ask(`select ${sum}, (select max(actor) from files)`)).toEqual(before)
  })

  it.each([
    "attach '/etc/passwd' as x",
    "attach 'file:/tmp/x?mode=rwc' as x",
    'pragma database_list',
    'select * from pragma_database_list',
    'select * from sqlite_master',
    'select * from tree.sqlite_schema',
    'select * from dbstat',
    'select * from sqlite_dbpage',
    "select load_extension('/tmp/x.so')",
    "select readfile('/etc/passwd')",
    "select writefile('/tmp/x', 'y')",
    "select fts3_tokenizer('simple', x'00')",
    "select * from fsdir('/')",
    "vacuum into '/tmp/x'",
    'vacuum',
    'create table x (a)',
    'create virtual table x using fts5(a)',
    'insert into log values (1,1,1,1,1,1,1,1)',
    'update files set path = 1',
    'delete from tree.entries',
    'detach tree',
    'begin',
    "explain select * from files; attach '/etc/passwd' as x",
    'reindex',
    'analyze',
  ])('%s: refused', async (sql) => {
    const before = readdirSync('/tmp').filter((name) => name === 'x')
    expect((await ask(sql)).error?.code).toBe('invalid_argument')
    expect(readdirSync('/tmp').filter((name) => name === 'x')).toEqual(before)
  })

  it.each([
    [
      'a row of four gigabytes',
      `select ${Array.from({ length: 250 }, () => 'zeroblob(16000000)').join(', ')}`,
    ],
    [
      'a sort of what fits nowhere',
      'with recursive n(x) as (select 1 union all select x + 1 from n where x < 100000) select zeroblob(8000000) from n order by random()',
    ],
  ])('%s: ended before it takes the memory of the machine', async (_title, sql) => {
    const { error } = await ask(sql)
    expect(error?.code).toMatch(/too_slow|invalid_argument/)
    // The next one has a process of its own.
    expect((await ask('select 1')).rows).toEqual([[1]])
  })
})
