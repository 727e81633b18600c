import type { LogEntry, Page } from '@cairn/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serve, type Serving } from '../../serve.ts'
import { makeTemporaryDirectory, removeDirectory } from '../../conformance/temporary-directory.ts'

describe('the log over HTTP', () => {
  let data: string
  let server: Serving

  beforeAll(async () => {
    data = await makeTemporaryDirectory()
    server = await serve({ data, listen: '127.0.0.1:0' })
    await ask('POST', '', '{"name":"w"}')
    for (const path of ['a', 'd/b', '%FF%FE/c', 'a', 'd/e'])
      await ask('PUT', `/w/files/${path}`, path)
  })
  afterAll(async () => {
    await server.close()
    await removeDirectory(data)
  })

  const ask = (method: string, path: string, body?: string): Promise<Response> =>
    fetch(`${server.url}/v1/workspaces${path}`, {
      method,
      headers: { authorization: `Bearer ${server.ownerKey}` },
      ...(body === undefined ? {} : { body }),
    })
  const get = async (path: string): Promise<Page<LogEntry>> =>
    (await (await ask('GET', path)).json()) as Page<LogEntry>
  const wholeLog = async (): Promise<readonly LogEntry[]> => (await get('/w/log')).items
  const writesOf = async (query: string): Promise<(string | undefined)[]> =>
    (await get(`/w/log?${query}`)).items.flatMap(({ operations }) =>
      operations.filter(({ op }) => op === 'write').map(({ path }) => path),
    )

  it('newest first is oldest first, backwards, page by page', async () => {
    const pages: LogEntry[] = []
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const page: Page<LogEntry> = await get(`/w/log?order=newest&limit=2${cursor}`)
      pages.push(...page.items)
      cursor = page.next && `&cursor=${page.next}`
    }
    expect(pages).toEqual((await wholeLog()).toReversed())
  })

  it('a path finds what is at it and below, also where it is not UTF-8', async () => {
    expect(await writesOf('path=/d')).toEqual(['/d/b', '/d/e'])
    expect(await writesOf('path=/a&order=newest&limit=1')).toEqual(['/a'])
    const bytes = Buffer.from('/\xff\xfe', 'latin1').toString('base64url')
    expect(await writesOf(`pathBytes=${bytes}`)).toEqual(['/\uFFFD\uFFFD/c'])
    const [entry] = (await get(`/w/log?pathBytes=${bytes}`)).items
    expect(entry!.operations.at(-1)!.pathBytes).toBe(
      Buffer.from('/\xff\xfe/c', 'latin1').toString('base64'),
    )
  })

  it('times and actors bound it', async () => {
    const all = await wholeLog()
    const middle = all[3]!
    const since = await get(`/w/log?since=${middle.time}`)
    expect(since.items).toEqual(all.filter(({ time }) => time >= middle.time))
    const until = await get(`/w/log?until=${middle.time}`)
    expect(until.items).toEqual(all.filter(({ time }) => time < middle.time))
    expect((await get('/w/log?actor=unknown')).items).toEqual([])
    expect((await get(`/w/log?actor=${middle.actor}&after=2&before=5`)).items).toHaveLength(2)
  })

  it('the history of a file is newest first, and goes on after its cursor', async () => {
    const first = await get('/w/files/a?history&limit=1')
    const rest = await get(`/w/files/a?history&cursor=${first.next}`)
    const seqs = [...first.items, ...rest.items].map(({ seq }) => seq)
    const expected = (await wholeLog()).filter(({ operations }) =>
      operations.some(({ path }) => path === '/a'),
    )
    expect(seqs).toEqual(expected.map(({ seq }) => seq).toReversed())
    expect(seqs).toHaveLength(2)
  })

  it.each([
    ['cursor=x', 'cursor'],
    ['cursor=99999999999999999999', 'cursor'],
    ['since=yesterday', 'since'],
    ['after=-1', 'after'],
    ['order=sideways', 'order'],
    ['path=/a&pathBytes=L2E', 'pathBytes'],
    ['pathBytes=*', 'pathBytes'],
  ])('%s is refused by name', async (query, name) => {
    const answer = await ask('GET', `/w/log?${query}`)
    expect(answer.status).toBe(400)
    const { error } = (await answer.json()) as { error: { code: string; message: string } }
    expect(error.code).toBe('invalid_argument')
    expect(error.message).toContain(name)
  })
})
