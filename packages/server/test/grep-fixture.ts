import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { afterAll, expect } from 'vitest'
import { SearchIndex } from '../src/search/index/search-index.ts'
import { memoryDoor, secret } from './memory-door.ts'

export type Files = Readonly<Record<string, string>>

/** A line of an answer. */
export interface Event {
  readonly type: string
  // oxlint-disable-next-line typescript/no-explicit-any -- as JSON.parse gives it
  readonly data: any
}

export interface GrepFixture {
  readonly app: FastifyInstance
  readonly index: SearchIndex
  /** A workspace with these files, one character a byte; gives where it is. */
  readonly makeFiles: (files: Files) => Promise<string>
  /** The events of an answer. */
  readonly ask: (root: string, query: Query, key?: string) => Promise<readonly Event[]>
}

type Query = Readonly<Record<string, string | number | boolean | readonly string[]>>

/** A server in memory that searches, until the tests of the file are over. */
export function useGrep(): GrepFixture {
  const headers = { authorization: `Bearer ${secret}` }
  const directory = mkdtempSync(join(tmpdir(), 'cairn-index-'))
  const index = new SearchIndex({
    directory,
    onFailure: (error) => {
      throw error
    },
  })
  const app = memoryDoor({ searchIndex: index })
  let made = 0
  afterAll(async () => {
    await app.close()
    await index.close()
    rmSync(directory, { recursive: true })
  })

  async function makeFiles(files: Files): Promise<string> {
    const name = `w${++made}`
    const root = `/v1/workspaces/${name}`
    await app.inject({ method: 'POST', url: '/v1/workspaces', headers, payload: { name } })
    const operations = Object.entries(files).map(([path, text]) => ({
      op: 'write',
      path: `/${path}`,
      base64: Buffer.from(text, 'latin1').toString('base64'),
      parents: true,
    }))
    if (operations.length > 0) {
      const payload = { operations }
      const answer = await app.inject({ method: 'POST', url: `${root}/batch`, headers, payload })
      expect(answer.statusCode, answer.body).toBe(200)
    }
    return root
  }

  async function ask(root: string, query: Query, key: string = secret): Promise<readonly Event[]> {
    const search = new URLSearchParams()
    for (const [name, value] of Object.entries(query))
      for (const each of [value].flat()) search.append(name, String(each))
    const answer = await app.inject({
      method: 'GET',
      url: `${root}/grep?${search.toString()}`,
      headers: { authorization: `Bearer ${key}` },
    })
    expect(answer.statusCode, answer.body).toBe(200)
    return answer.body
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  }

  return { app, index, makeFiles, ask }
}
