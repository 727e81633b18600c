import { type IssuedToken, type SearchAnswer } from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { useGrep } from '../../../test/grep-fixture.ts'
import { secret } from '../../../test/memory-door.ts'
import { randomRules } from '../../../test/random-rules.ts'

const { app, index, makeFiles } = useGrep()

type Query = Readonly<Record<string, string | number>>

async function search(
  root: string,
  q: string,
  query: Query = {},
  key: string = secret,
): Promise<SearchAnswer> {
  const asked = new URLSearchParams({ q })
  for (const [name, value] of Object.entries(query)) asked.set(name, String(value))
  const answer = await app.inject({
    method: 'GET',
    url: `${root}/search?${asked.toString()}`,
    headers: { authorization: `Bearer ${key}` },
  })
  if (answer.statusCode !== 200) throw new Error(answer.body)
  return answer.json<SearchAnswer>()
}

async function paths(root: string, q: string, query?: Query, key?: string): Promise<string[]> {
  return (await search(root, q, query, key)).results.map(({ path }) => path)
}

async function post<T>(url: string, payload: object): Promise<T> {
  const headers = { authorization: `Bearer ${secret}` }
  const answer = await app.inject({ method: 'POST', url, headers, payload })
  expect(answer.statusCode, answer.body).toBeLessThan(300)
  return answer.json<T>()
}

const filler = 'nothing to see in these words\n'

describe('search', () => {
  it('gives the best file first, with the passage that says most and its line', async () => {
    const root = await makeFiles({
      'auth.ts': `${filler.repeat(5)}// a session lives for an hour\n${filler}if (sessionExpired(now)) {\n  throw x\n}\n${filler}`,
      'other.ts': `session\n${filler.repeat(9)}expires\n${filler}`,
      'none.ts': filler,
    })
    const { words, results, files, truncated } = await search(root, 'Where do sessions expire?')
    expect({ words, files, truncated }).toEqual({
      words: ['session', 'expir'],
      files: 2,
      truncated: null,
    })
    expect(results.map(({ path, line }) => [path, line])).toEqual([
      ['/auth.ts', 8],
      ['/other.ts', 1],
    ])
    expect(results[0]!.passage).toBe(
      `// a session lives for an hour\n${filler}if (sessionExpired(now)) {\n  throw x\n}`,
    )
  })

  it('takes the choices of grep: a path, globs, types, ignored files', async () => {
    const root = await makeFiles({
      'a/one.ts': 'budget\n',
      'a/two.md': 'budget budget\n',
      'b/three.ts': 'budget\n',
      '.ignore': 'three.ts\n',
      binary: 'budget\0',
    })
    expect(await paths(root, 'budget')).toEqual(['/a/two.md', '/a/one.ts'])
    expect(await paths(root, 'budget', { type: 'ts', unrestricted: 1 })).toEqual([
      '/a/one.ts',
      '/b/three.ts',
    ])
    expect(await paths(root, 'budget', { path: '/a/one.ts' })).toEqual(['/a/one.ts'])
    expect(await paths(root, 'budget', { glob: '*.md' })).toEqual(['/a/two.md'])
    expect((await search(root, 'budget', { limit: 1 })).files).toBe(2)
    await expect(search(root, 'budget', { path: '/absent' })).rejects.toThrow('ENOENT')
    await expect(search(root, '?!')).rejects.toThrow('no letter and no digit')
  })

  it('sees what was written just now, and at a checkpoint what was there then', async () => {
    const root = await makeFiles({ 'a.txt': 'old budget\n' })
    await search(root, 'budget')
    await index.settled()
    await post(`${root}/layers`, { name: 'l', path: '/' })
    await post(`${root}/layers/l/checkpoints`, { label: 'then' })
    await post(`${root}/batch?layer=l`, {
      operations: [
        { op: 'write', path: '/a.txt', text: 'nothing\n' },
        { op: 'write', path: '/b.txt', text: 'new budget\n' },
      ],
    })
    expect(await paths(root, 'budget', { layer: 'l' })).toEqual(['/b.txt'])
    expect(await paths(root, 'budget', { layer: 'l', at: 'then' })).toEqual(['/a.txt'])
    expect(await paths(root, 'budget')).toEqual(['/a.txt'])
  })

  it('clips a line of megabytes around what it found', async () => {
    const long = 'é'.repeat(300_000)
    const root = await makeFiles({
      'bundle.js': Buffer.from(`${long} budget ${long}\n`).toString('latin1'),
    })
    const { results } = await search(root, 'budget')
    expect(results[0]!.line).toBe(1)
    expect(results[0]!.passage).toMatch(/^é+ budget é+…$/)
    expect(results[0]!.passage.length).toBeLessThan(500)
  })

  it('says when its time was over', async () => {
    const files = Array.from({ length: 40 }, (_, at) => [`f${at}`, 'budget '.repeat(100_000)])
    const root = await makeFiles(Object.fromEntries(files.slice(0, 4)))
    expect((await search(root, 'budget', { timeMs: 1 })).truncated).toBe('time')
  })
})

const vocabulary = ['session', 'sessions', 'userSession', 'expired', 'Expire', 'obsession', 'x']

/** BM25 in a few lines that know nothing of the server's, over whole files. */
function expected(
  files: Readonly<Record<string, string>>,
  stems: readonly RegExp[],
): readonly (readonly [path: string, score: number])[] {
  const having = Object.entries(files)
    .map(([path, text]) => ({
      path: `/${path}`,
      length: text.length,
      counts: stems.map((stem) => [...text.matchAll(stem)].length),
    }))
    .filter(({ counts }) => counts.some((count) => count > 0))
  const mean = having.reduce((sum, { length }) => sum + length, 0) / having.length
  return having
    .map(({ path, length, counts }) => {
      const score = counts.reduce((sum, count, at) => {
        const df = having.filter((file) => file.counts[at]! > 0).length
        const idf = Math.log(1 + (having.length - df + 0.5) / (df + 0.5))
        return sum + (idf * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * length) / mean))
      }, 0)
      return [path, Math.round(score * 1e4) / 1e4] as const
    })
    .toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
}

const stems = [/(?<![A-Za-z])session|Session/g, /(?<![A-Za-z])expir|Expir/g]

describe('the order of a search', () => {
  const line = fc
    .array(fc.constantFrom(...vocabulary), { maxLength: 6 })
    .map((each) => each.join(' '))
  const text = fc
    .array(line, { maxLength: 6 })
    .map((lines) => lines.map((each) => `${each}\n`).join(''))
  const name = fc.constantFrom('a', 'b', 'c', 'd/e', 'd/f', 'g')

  it('the order of a search is that of BM25 over the files, before they are indexed and after', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, text, { minKeys: 1, maxKeys: 6 }), async (files) => {
        const root = await makeFiles(files)
        const scored = expected(files, stems)
        for (let round = 0; round < 2; round++) {
          const { results } = await search(root, 'sessions expire')
          // Rounded scores may be equal where others are not, so only scores have an order here.
          expect(results.map(({ score }) => score)).toEqual(scored.map(([, score]) => score))
          expect(new Set(results.map(({ path, score }) => `${path} ${score}`))).toEqual(
            new Set(scored.map(([path, score]) => `${path} ${score}`)),
          )
          for (const { path, line: about } of results)
            expect(files[path.slice(1)]!.split('\n')[about - 1]).toMatch(/session|expire/i)
          await index.settled()
        }
      }),
      { seed: 7, numRuns: 25 * Number(process.env['CAIRN_RUNS'] ?? 1) },
    )
  })

  it('for a token is that of a workspace which has nothing but what the token may search', async () => {
    const files = {
      a: 'session session\n',
      'b/c': 'session expired\n',
      'b/d': 'expired\n',
      'g/h': 'session\nexpired expired\n',
      'g/.ignore': 'i\n',
      'g/i': 'session expired\n',
    }
    const root = await makeFiles(files)
    const places = ['/', '/a', '/b', '/b/c', '/g', '/g/h', '/g/.ignore']
    await fc.assert(
      fc.asyncProperty(randomRules(places), async ({ allow, deny }) => {
        const { secret: key } = await post<IssuedToken>(`${root}/tokens`, {
          name: `t${Math.random()}`,
          ttlMs: 60_000,
          allow,
          deny,
        })
        const isSearching = allow.some(({ operations }) => operations.includes('search'))
        if (!isSearching) return
        const seen = await grepped(root, key)
        const own = await makeFiles(
          Object.fromEntries(
            Object.entries(files).filter(([path]) => seen === undefined || seen.has(`/${path}`)),
          ),
        )
        if (seen === undefined) {
          await expect(search(root, 'session expire', {}, key)).rejects.toThrow(/forbidden|ENOENT/)
          return
        }
        const { results, files: count } = await search(root, 'session expire', {}, key)
        const alone = await search(own, 'session expire', { unrestricted: 1 })
        expect({ results, count }).toEqual({ results: alone.results, count: alone.files })
      }),
      { seed: 7, numRuns: 25 * Number(process.env['CAIRN_RUNS'] ?? 1) },
    )
  })
})

/** What grep shows of the workspace: its tests compare it with an oracle. Undefined where the token may not search there. */
async function grepped(root: string, key: string): Promise<ReadonlySet<string> | undefined> {
  const answer = await app.inject({
    method: 'GET',
    url: `${root}/grep?pattern=session%7Cexpired&wants=files`,
    headers: { authorization: `Bearer ${key}` },
  })
  if (answer.statusCode !== 200) return undefined
  const events = answer.body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  return new Set(events.filter(({ type }) => type === 'begin').map(({ data }) => data.path.text))
}
