import { accessOperations, type AccessOperation, type IssuedToken } from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Event, useGrep } from '../../test/grep-fixture.ts'
import { secret } from '../../test/memory-door.ts'

const { app, ask, index, makeFiles } = useGrep()

const pathsOf = (events: readonly Event[]): readonly string[] =>
  events.filter(({ type }) => type === 'begin').map(({ data }) => data.path.text)
const linesOf = (events: readonly Event[]): readonly number[] =>
  events.filter(({ type }) => type === 'match').map(({ data }) => data.line_number)

async function issue(
  root: string,
  allow: readonly object[],
  deny: readonly string[],
): Promise<string> {
  const answer = await app.inject({
    method: 'POST',
    url: `${root}/tokens`,
    headers: { authorization: `Bearer ${secret}` },
    payload: { name: `t${Math.random()}`, ttlMs: 60_000, allow, deny },
  })
  expect(answer.statusCode, answer.body).toBe(201)
  return answer.json<IssuedToken>().secret
}

const files = {
  'a.txt': 'needle',
  'b/c.txt': 'needle',
  'b/d/e.txt': 'needle',
  'b/d/.ignore': 'f.txt',
  'b/d/f.txt': 'needle',
  'g/h.txt': 'needle',
}
const places = ['/', '/a.txt', '/b', '/b/d', '/b/d/e.txt', '/b/d/.ignore', '/g']

/** In a few lines that know nothing of the server's: `list` to walk there, `search` and `read` to look inside. */
function mayFind(
  allow: readonly { path: string; operations: readonly AccessOperation[] }[],
  deny: readonly string[],
  file: string,
): boolean {
  const above = (at: string): readonly string[] =>
    at.split('/').map((_, depth, all) => all.slice(0, depth + 1).join('/') || '/')
  const has = (operation: AccessOperation, at: string): boolean =>
    !deny.some((each) => above(at).includes(each)) &&
    allow.some((rule) => above(at).includes(rule.path) && rule.operations.includes(operation))
  const leadsOn = (at: string): boolean =>
    allow.some(
      ({ path }) =>
        path !== at && above(path).includes(at) && !deny.some((each) => above(path).includes(each)),
    )
  const seesAll = deny.length === 0 && allow.some(({ path }) => path === '/')
  const isShown = (at: string): boolean => {
    const parent = at.slice(0, at.lastIndexOf('/')) || '/'
    const isOnWay = leadsOn(at) || allow.some(({ path }) => path === at)
    const isListed = has('list', parent) || (seesAll ? leadsOn(parent) : isOnWay)
    return at === '/' || (isListed && isShown(parent))
  }
  return isShown(file) && has('search', file) && has('read', file)
}

describe('grep with a token', () => {
  it('finds what the token may search, and is ruled by no other ignore file', async () => {
    const root = await makeFiles(files)
    await ask(root, { pattern: 'needle' })
    await index.settled()
    const operations = fc.subarray(['read', 'list', 'search'] as const, { minLength: 1 })
    const rule = fc.record({ path: fc.constantFrom(...places), operations })
    const rules = fc.array(rule, { minLength: 1, maxLength: 3 })
    const denied = fc.subarray(places.slice(1), { maxLength: 2 })
    await fc.assert(
      fc.asyncProperty(rules, denied, async (asked, deny) => {
        const allow = asked.map(({ path, operations: some }) => ({
          path,
          operations: accessOperations.filter(
            (each) =>
              (some as readonly string[]).includes(each) ||
              (each === 'read' && some.includes('search')),
          ),
        }))
        const key = await issue(root, allow, deny)
        const url = `${root}/grep?pattern=needle`
        const answer = await app.inject({ url, headers: { authorization: `Bearer ${key}` } })
        const may = (file: string): boolean => mayFind(allow, deny, `/${file}`)
        const wanted = Object.keys(files)
          .filter((file) => !file.includes('ignore') && may(file))
          .filter((file) => file !== 'b/d/f.txt' || !may('b/d/.ignore'))
        if (answer.statusCode === 403) {
          expect(wanted).toEqual([])
          return
        }
        expect(answer.statusCode, answer.body).toBe(200)
        const events = answer.body
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Event)
        expect(pathsOf(events)).toEqual(wanted.map((file) => `/${file}`))
      }),
      { numRuns: 60 },
    )
  })
})

describe('grep, budgets', () => {
  it('a cut answer continues with its cursor, also in the middle of a file', async () => {
    const many = Array.from({ length: 25 }, (_, i) => `x${i}\n`).join('')
    const root = await makeFiles({ 'a.txt': many, 'b.txt': many, 'c/d.txt': many })
    const seen: string[] = []
    let pages = 0
    for (let cursor: string | undefined; ; pages++) {
      const events = await ask(root, { pattern: 'x', limit: 7, ...(cursor ? { cursor } : {}) })
      for (const { type, data } of events)
        if (type === 'match') seen.push(`${data.path.text}:${data.line_number}`)
      const { data } = events.at(-1)!
      cursor = data.next
      if (cursor === undefined) break
      expect(data.truncated).toBe('lines')
    }
    const wanted = ['/a.txt', '/b.txt', '/c/d.txt'].flatMap((path) =>
      Array.from({ length: 25 }, (_, i) => `${path}:${i + 1}`),
    )
    expect(seen).toEqual(wanted)
    expect(pages).toBe(10)
  })

  it.each([
    '(a*)*b',
    '(a|a)*b',
    '(x+x+)+y',
    '\\b(a|b|ab)*c\\b',
    '(.*)*=(.*)*;$',
    'a{0,500}a{500}b',
    '(é|e)*\\bz',
  ])('a hostile pattern ends in linear time: %s', async (pattern) => {
    const root = await makeFiles({
      'a.txt': `${'a'.repeat(50_000)}\n${'éa'.repeat(200)}\n${'x'.repeat(50_000)}`,
    })
    const { data } = (await ask(root, { pattern })).at(-1)!
    expect(data.truncated).toBe(null)
    expect(data.stats.searches).toBe(1)
  })

  it.each(['(', 'a{1001}', '(?=a)', '(a)\\1', '\\w{1000}\\w{1000}', '[b-a]', 'a**{', '\\q'])(
    'a pattern that cannot be used is refused: %s',
    async (pattern) => {
      const root = await makeFiles({})
      const url = `${root}/grep?pattern=${encodeURIComponent(pattern)}`
      const answer = await app.inject({ url, headers: { authorization: `Bearer ${secret}` } })
      expect(answer.statusCode, answer.body).toBe(400)
      expect(answer.json()).toMatchObject({
        error: { code: 'invalid_argument', subject: 'pattern' },
      })
    },
  )
})

describe('grep, large and binary files', () => {
  it('a file of several pieces: line numbers and context over their borders', async () => {
    const lines = Array.from(
      { length: 60_000 },
      (_, i) => `line ${i + 1} of many, some of them odd`,
    )
    lines[29_999] = 'needle'
    lines[59_999] = 'needle'
    const root = await makeFiles({ 'big.txt': lines.join('\n') })
    const events = await ask(root, { pattern: 'needle', before: 1, after: 1 })
    expect(linesOf(events)).toEqual([30_000, 60_000])
    const context = events
      .filter(({ type }) => type === 'context')
      .map(({ data }) => data.line_number)
    expect(context).toEqual([29_999, 30_001, 59_999])
    const count = await ask(root, { pattern: 'odd', wants: 'count' })
    expect(count.find(({ type }) => type === 'end')!.data.stats.matched_lines).toBe(59_998)
  })

  it('a binary file in a directory is passed over; by its own name it is told that it matches', async () => {
    const root = await makeFiles({ 'a.bin': 'foo\n\0\nfoo\n' })
    expect(pathsOf(await ask(root, { pattern: 'foo' }))).toEqual([])
    const named = await ask(root, { pattern: 'foo', path: '/a.bin' })
    expect(named.find(({ type }) => type === 'end')!.data.binary_offset).toBe(4)
    expect(linesOf(await ask(root, { pattern: 'foo', unrestricted: 3 }))).toEqual([1, 3])
  })

  it('UTF-16 with its mark is searched as text', async () => {
    const text = Buffer.from('\ufefffoo\nbar\n', 'utf16le').toString('latin1')
    const root = await makeFiles({ 'a.txt': text })
    expect(linesOf(await ask(root, { pattern: '^bar$' }))).toEqual([2])
  })
})
