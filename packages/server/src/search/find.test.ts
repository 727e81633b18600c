import { type FileEntry, type FindEvent, type FindSummary, type IssuedToken } from '@cairn/protocol'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { memoryDoor, secret } from '../../test/memory-door.ts'
import { randomRules } from '../../test/random-rules.ts'

const app = memoryDoor()
afterAll(() => app.close())
let made = 0

async function call<T>(method: 'GET' | 'POST', url: string, payload?: object): Promise<T> {
  const headers = { authorization: `Bearer ${secret}` }
  const answer = await app.inject({ method, url, headers, ...(payload ? { payload } : {}) })
  expect(answer.statusCode, answer.body).toBeLessThan(300)
  return answer.json<T>()
}

type Tagged = Readonly<Record<string, Readonly<Record<string, string>>>>

/** A workspace with empty files that have these tags; gives where it is. */
async function make(files: Tagged): Promise<string> {
  const name = `w${++made}`
  await call('POST', '/v1/workspaces', { name })
  const root = `/v1/workspaces/${name}`
  const operations = Object.entries(files).map(([path, tags]) => ({
    op: 'write',
    path,
    text: path,
    tags,
    parents: true,
  }))
  if (operations.length > 0) await call('POST', `${root}/batch`, { operations })
  return root
}

interface Found {
  readonly entries: readonly FileEntry[]
  readonly summary: FindSummary
}

type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>

async function find(root: string, query: Query = {}, key: string = secret): Promise<Found> {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const each of [value ?? []].flat()) search.append(name, String(each))
  const answer = await app.inject({
    method: 'GET',
    url: `${root}/find?${search.toString()}`,
    headers: { authorization: `Bearer ${key}` },
  })
  if (answer.statusCode !== 200) throw new Error(answer.body)
  const events = answer.body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as FindEvent)
  const summary = events.pop()!.data as FindSummary
  return { entries: events.map(({ data }) => data as FileEntry), summary }
}

const paths = async (root: string, query?: Query, key?: string): Promise<readonly string[]> =>
  (await find(root, query, key)).entries.map(({ path }) => path)

async function issue(root: string, rules: object): Promise<IssuedToken> {
  return call<IssuedToken>('POST', `${root}/tokens`, { name: 't', ttlMs: 60_000, ...rules })
}

describe('find', () => {
  const tree: Tagged = {
    '/a.ts': { agent: 'a', reviewed: 'yes' },
    '/b/c.md': { agent: 'b' },
    '/b/d.ts': { agent: 'a' },
    '/b/.hidden': { constructor: 'x' },
  }

  it('gives what is below a directory, depth first, in the order of names', async () => {
    const root = await make(tree)
    expect(await paths(root)).toEqual(['/a.ts', '/b', '/b/.hidden', '/b/c.md', '/b/d.ts'])
    expect(await paths(root, { path: '/b', name: '*.{ts,md}' })).toEqual(['/b/c.md', '/b/d.ts'])
    expect(await paths(root, { kind: 'directory' })).toEqual(['/b'])
    await expect(paths(root, { path: '/absent' })).rejects.toThrow('ENOENT')
    await expect(paths(root, { path: '/a.ts' })).rejects.toThrow('ENOTDIR')
  })

  it('by tags: all that are named, with their value or any', async () => {
    const root = await make(tree)
    expect(await paths(root, { tag: 'agent=a' })).toEqual(['/a.ts', '/b/d.ts'])
    expect(await paths(root, { tag: ['agent', 'reviewed=yes'] })).toEqual(['/a.ts'])
    expect(await paths(root, { tag: 'agent=' })).toEqual([])
    expect(await paths(root, { tag: 'constructor' })).toEqual(['/b/.hidden'])
    expect(await paths(root, { tag: 'toString' })).toEqual([])
  })

  it('by who changed it last, in layers too', async () => {
    const root = await make(tree)
    const { id, secret: key } = await issue(root, {
      allow: [{ path: '/b', operations: ['read', 'write', 'list'] }],
    })
    await app.inject({
      method: 'PUT',
      url: `${root}/files/b/c.md`,
      headers: { authorization: `Bearer ${key}` },
      payload: 'by the token',
    })
    expect(await paths(root, { changedBy: id })).toEqual(['/b/c.md'])
    await call('POST', `${root}/layers`, { name: 'l', path: '/' })
    await call('POST', `${root}/batch?layer=l`, {
      operations: [{ op: 'write', path: '/b/c.md', text: 'by the owner' }],
    })
    expect(await paths(root, { changedBy: id, layer: 'l' })).toEqual([])
    expect(await paths(root, { changedBy: id })).toEqual(['/b/c.md'])
  })

  it('at a checkpoint gives what was there then', async () => {
    const root = await make(tree)
    await call('POST', `${root}/layers`, { name: 'l', path: '/' })
    await call('POST', `${root}/layers/l/checkpoints`, { label: 'then' })
    await call('POST', `${root}/batch?layer=l`, {
      operations: [
        { op: 'remove', path: '/b', recursive: true },
        { op: 'tag', path: '/a.ts', tags: { agent: null } },
      ],
    })
    expect(await paths(root, { layer: 'l', tag: 'agent' })).toEqual([])
    expect(await paths(root, { layer: 'l', at: 'then', tag: 'agent' })).toHaveLength(3)
  })

  it('a glob that would take others forever, and one that is none', async () => {
    const root = await make({ [`/${'a'.repeat(200)}`]: {} })
    expect(await paths(root, { name: `${'*a'.repeat(90)}b` })).toEqual([])
    await expect(paths(root, { name: '{a' })).rejects.toThrow('is not closed')
  })

  it('a cut answer goes on with its cursor, and gives each entry once', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 230 }, (_, at) => [`/d${at % 7}/f${at}`, {}]),
    )
    const root = await make(files)
    const all = await paths(root)
    const seen: string[] = []
    for (let cursor: string | undefined; ;) {
      const { entries, summary } = await find(root, { limit: 100, cursor })
      seen.push(...entries.map(({ path }) => path))
      cursor = summary.next
      if (cursor === undefined) break
      expect(summary.truncated).toBe('entries')
    }
    expect(seen).toEqual(all)
    expect(all).toHaveLength(237)
  })

  it('agrees with a filter of the listing, whatever the conditions', async () => {
    const tags = fc.subarray(['agent=a', 'agent=b', 'x=1'] as const)
    const name = fc.constantFrom('a', 'b', 'a.ts', 'b.ts', '.c')
    const path = fc.array(name, { minLength: 1, maxLength: 3 })
    const file = fc.record({ path, tags, size: fc.nat(5) })
    const conditions = fc.record(
      {
        name: fc.constantFrom('*', '*.ts', '?', '[ab]*', '{a,b}', '.*'),
        kind: fc.constantFrom('file', 'directory'),
        sizeMin: fc.nat(5),
        sizeMax: fc.nat(5),
        tag: fc.constantFrom('agent', 'agent=a', 'x'),
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(file, { minLength: 1, maxLength: 8 }),
        conditions,
        async (files, asked) => {
          const root = await make({})
          for (const each of files)
            await app.inject({
              method: 'PUT',
              url: `${root}/files/${each.path.join('/')}?${each.tags.map((tag) => `tag=${tag}`).join('&')}`,
              headers: { authorization: `Bearer ${secret}` },
              payload: 'x'.repeat(each.size),
            })
          const { items } = await call<{ items: FileEntry[] }>(
            'GET',
            `${root}/files/?list&recursive&limit=1000`,
          )
          expect((await find(root, asked)).entries).toEqual(
            items.filter((item) => meets(item, asked)),
          )
        },
      ),
      { seed: 7, numRuns: 60 * Number(process.env['CAIRN_RUNS'] ?? 1) },
    )
  })
})

interface Asked {
  readonly name?: string
  readonly kind?: string
  readonly sizeMin?: number
  readonly sizeMax?: number
  readonly tag?: string
}

const globs: Readonly<Record<string, RegExp>> = {
  '*': /^/,
  '*.ts': /\.ts$/,
  '?': /^.$/,
  '[ab]*': /^[ab]/,
  '{a,b}': /^(a|b)$/,
  '.*': /^\./,
}

/** In a few lines that know nothing of the server's. */
function meets(entry: FileEntry, { name, kind, sizeMin, sizeMax, tag }: Asked): boolean {
  const isSized = sizeMin === undefined && sizeMax === undefined
  const pairs = Object.entries(entry.tags ?? {}).flatMap(([key, value]) => [key, `${key}=${value}`])
  return (
    (name === undefined || globs[name]!.test(entry.name)) &&
    (kind === undefined || entry.kind === kind) &&
    (isSized || entry.kind === 'file') &&
    entry.size >= (isSized ? 0 : (sizeMin ?? 0)) &&
    entry.size <= (isSized ? Infinity : (sizeMax ?? Infinity)) &&
    (tag === undefined || pairs.includes(tag))
  )
}

describe('find with a token', () => {
  it('finds, counts and pages through what the token may list, and nothing else', async () => {
    const root = await make({
      '/a': { t: '1' },
      '/b/c': { t: '1' },
      '/b/d/e': { t: '1' },
      '/g/h': { t: '1' },
    })
    const places = ['/', '/a', '/b', '/b/d', '/b/d/e', '/g']
    await fc.assert(
      fc.asyncProperty(randomRules(places), async ({ allow, deny }) => {
        const { secret: key } = await issue(root, { allow, deny })
        const seen = await app.inject({
          method: 'GET',
          url: `${root}/files/?list&recursive&limit=1000`,
          headers: { authorization: `Bearer ${key}` },
        })
        if (seen.statusCode !== 200) {
          await expect(paths(root, {}, key)).rejects.toThrow(/forbidden|ENOENT/)
          return
        }
        const listed = seen.json<{ items: FileEntry[] }>().items
        const { entries, summary } = await find(root, { tag: 't' }, key)
        expect(entries).toEqual(listed.filter(({ kind }) => kind === 'file'))
        expect(summary).toEqual({ found: entries.length, truncated: null })
        for (const { path } of entries)
          expect(deny.some((each) => path === each || path.startsWith(`${each}/`))).toBe(false)
      }),
      { seed: 7, numRuns: 60 * Number(process.env['CAIRN_RUNS'] ?? 1) },
    )
  })
})
