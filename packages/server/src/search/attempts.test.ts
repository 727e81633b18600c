import type { IssuedToken } from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Event, useGrep } from '../../test/grep-fixture.ts'
import { secret } from '../../test/memory-door.ts'

const { app, ask, index, makeFiles } = useGrep()

const headers = { authorization: `Bearer ${secret}` }

async function post<T>(url: string, payload: object): Promise<T> {
  const answer = await app.inject({ method: 'POST', url, headers, payload })
  expect(answer.statusCode, answer.body).toBeLessThan(300)
  return answer.json<T>()
}

const linesOf = (events: readonly Event[], layer?: string): readonly string[] =>
  events
    .filter(({ type }) => type === 'match')
    .map(({ data }) => `${data.layer ?? layer}:${data.path.text}:${data.line_number}`)
    .toSorted()

const path = fc.constantFrom('/r/a', '/r/b', '/r/d/a', '/r/d/e/a', '/r/new/x')
const change = fc.oneof(
  fc.record({
    op: fc.constant('write'),
    path,
    text: fc.constantFrom('xyz\n', 'y\nxyz\n', 'no\n'),
    parents: fc.constant(true),
  }),
  fc.record({ op: fc.constant('remove'), path, recursive: fc.constant(true) }),
  fc.record({
    op: fc.constant('move'),
    path: fc.constantFrom('/r/a', '/r/d'),
    to: fc.constant('/r/moved'),
  }),
  fc.record({
    op: fc.constant('write'),
    path: fc.constantFrom('/r/.ignore', '/r/d/.ignore'),
    text: fc.constantFrom('a\n', 'e/\n'),
  }),
)

describe('grep in all attempts of a tag', () => {
  it('random changes: gives what a search of each attempt gives', async () => {
    const attempts = fc.array(fc.array(change, { maxLength: 4 }), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(attempts, fc.boolean(), async (each, changed) => {
        const root = await makeFiles({
          'r/a': 'xyz\n',
          'r/b': 'xyz\nxyz\n',
          'r/d/a': 'q\nxyz\n',
          'r/d/e/a': 'xyz\n',
        })
        for (const [index, operations] of each.entries()) {
          await post(`${root}/layers`, { path: '/r', name: `l${index}`, tags: { task: 'auth' } })
          // What cannot be done is left out.
          for (const operation of operations)
            await app.inject({
              method: 'POST',
              url: `${root}/batch?layer=l${index}`,
              headers,
              payload: { operations: [operation] },
            })
        }
        await post(`${root}/layers`, { path: '/r', name: 'other', tags: { task: 'else' } })
        const query = { pattern: 'xyz', path: '/r', changed }
        const wanted: string[] = []
        for (const [index] of each.entries())
          wanted.push(...linesOf(await ask(root, { ...query, layer: `l${index}` }), `l${index}`))
        await index.settled()
        const together = await ask(root, { ...query, attempts: 'task=auth' })
        expect(linesOf(together)).toEqual(wanted.toSorted())
      }),
      { numRuns: 10 * Number(process.env['CAIRN_RUNS'] ?? 1) },
    )
  })

  it('each content is looked at once', async () => {
    const root = await makeFiles({ 'r/a': 'x\n'.repeat(500), 'r/b': 'x\n' })
    for (const name of ['one', 'two', 'three']) {
      await post(`${root}/layers`, { path: '/r', name, tags: { task: 'auth' } })
      const operations = [{ op: 'write', path: '/r/b', text: 'x and x\n' }]
      if (name !== 'one') await post(`${root}/batch?layer=${name}`, { operations })
    }
    const events = await ask(root, { pattern: 'x', attempts: 'task=auth', wants: 'count' })
    const { searches, bytes_searched } = events.at(-1)!.data.stats
    expect([searches, bytes_searched]).toEqual([3, 1000 + 2 + 8])
    const shown = events.filter(({ type }) => type === 'end').map(({ data }) => String(data.layer))
    expect(shown.toSorted()).toEqual(['one', 'one', 'three', 'three', 'two', 'two'])
  })

  it('a token finds only layers that it sees', async () => {
    const root = await makeFiles({ 'r/a': 'x\n', 's/a': 'x\n' })
    await post(`${root}/layers`, { path: '/r', name: 'r', tags: { task: 'auth' } })
    await post(`${root}/layers`, { path: '/s', name: 's', tags: { task: 'auth' } })
    const rules = { ttlMs: 60_000, allow: [{ path: '/r', operations: ['read', 'list', 'search'] }] }
    const { secret: seeing } = await post<IssuedToken>(`${root}/tokens`, {
      ...rules,
      name: 'seeing',
    })
    const query = { pattern: 'x', attempts: 'task=auth' }
    expect(linesOf(await ask(root, query, seeing))).toEqual(['r:/r/a:1'])
    expect(linesOf(await ask(root, query))).toEqual([
      'r:/r/a:1',
      'r:/s/a:1',
      's:/r/a:1',
      's:/s/a:1',
    ])
  })
})
