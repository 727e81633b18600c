import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SqlAnswer } from '@cairn/protocol'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { afterAll, expect } from 'vitest'
import type { SqlParts } from '../src/sql/run-sql.ts'
import { SqlProcesses } from '../src/sql/sql-process.ts'
import { TreeDatabases } from '../src/sql/tree-databases.ts'
import { memoryDoor, secret } from './memory-door.ts'

export interface SqlFixture {
  readonly app: FastifyInstance
  readonly headers: { readonly authorization: string }
  /** A workspace with these files; gives where it is. */
  readonly make: (files: Readonly<Record<string, string>>) => Promise<string>
  readonly post: <T>(url: string, payload: object) => Promise<T>
  /** Rows of a statement; rejects what is refused. */
  readonly rows: (root: string, sql: string, query?: Query) => Promise<SqlAnswer['rows']>
  readonly ask: (
    root: string,
    sql: string,
    query?: Query,
    key?: string,
  ) => Promise<LightMyRequestResponse>
}

type Query = Readonly<Record<string, string>>

/** What runs SQL, until the tests of the file are over. */
export function useSql(timeMs = 30_000): SqlParts {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-sql-'))
  const sql = { processes: new SqlProcesses(), databases: new TreeDatabases(directory), timeMs }
  afterAll(() => {
    sql.processes.close()
    sql.databases.close()
  })
  return sql
}

/** A server in memory that runs SQL. */
export function sqlFixture(timeMs?: number): SqlFixture {
  const app = memoryDoor({ sql: useSql(timeMs) })
  const headers = { authorization: `Bearer ${secret}` }
  let made = 0
  afterAll(() => app.close())

  async function post<T>(url: string, payload: object): Promise<T> {
    const answer = await app.inject({ method: 'POST', url, headers, payload })
    expect(answer.statusCode, answer.body).toBeLessThan(300)
    return answer.json<T>()
  }

  async function make(files: Readonly<Record<string, string>>): Promise<string> {
    const name = `w${++made}`
    const root = `/v1/workspaces/${name}`
    await post('/v1/workspaces', { name })
    const operations = Object.entries(files).map(([path, text]) => ({
      op: 'write',
      path,
      text,
      parents: true,
    }))
    if (operations.length > 0) await post(`${root}/batch`, { operations })
    return root
  }

  function ask(
    root: string,
    sql: string,
    query: Query = {},
    key = secret,
  ): Promise<LightMyRequestResponse> {
    const search = new URLSearchParams({ ...query, sql })
    return app.inject({
      method: 'GET',
      url: `${root}/sql?${search.toString()}`,
      headers: { authorization: `Bearer ${key}` },
    })
  }

  async function rows(root: string, sql: string, query?: Query): Promise<SqlAnswer['rows']> {
    const answer = await ask(root, sql, query)
    expect(answer.statusCode, answer.body).toBe(200)
    return answer.json<SqlAnswer>().rows
  }

  return { app, headers, make, post, rows, ask }
}
