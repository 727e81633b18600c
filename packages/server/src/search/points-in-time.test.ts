import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { FindEvent, SearchAnswer } from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withTemporaryDirectory } from '../conformance/temporary-directory.ts'
import { useGrep } from '../../test/grep-fixture.ts'
import { secret } from '../../test/memory-door.ts'

const { app, ask, index, makeFiles } = useGrep()

const hasRipgrep = spawnSync('rg', ['--version']).status === 0
const headers = { authorization: `Bearer ${secret}` }

async function get(url: string): Promise<Buffer> {
  const answer = await app.inject({ url, headers })
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.rawPayload
}

async function post(url: string, payload: object | Buffer): Promise<number> {
  const type = Buffer.isBuffer(payload) ? { 'content-type': 'application/x-tar' } : {}
  const options = { method: 'POST', url, headers: { ...headers, ...type }, payload } as const
  return (await app.inject(options)).statusCode
}

/** Paths and sizes, as find(1) would see them. */
function listed(directory: string): readonly string[] {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true })
  return names
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const below = `/${relative(directory, path)}`
      return entry.isDirectory() ? below : `${below} ${statSync(path).size}`
    })
    .toSorted()
}

async function found(root: string, at: string): Promise<readonly string[]> {
  const lines = (await get(`${root}/find?at=${at}`)).toString().trimEnd().split('\n')
  return lines
    .map((line) => JSON.parse(line) as FindEvent)
    .flatMap(({ type, data }) => (type === 'entry' && 'path' in data ? [data] : []))
    .map(({ path, kind, size }) => (kind === 'directory' ? path : `${path} ${size}`))
    .toSorted()
}

const question = 'needles in the hay'

async function ranked(root: string, query = ''): Promise<SearchAnswer> {
  const text = await get(`${root}/search?q=${encodeURIComponent(question)}${query}`)
  return JSON.parse(text.toString()) as SearchAnswer
}

function ripgrep(directory: string, pattern: string): readonly string[] {
  const args = ['--no-config', '--no-heading', '-n', '--sort', 'path', '-e', pattern, '.']
  const { stdout } = spawnSync('rg', args, { cwd: directory, encoding: 'utf8' })
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .toSorted()
}

async function grepped(root: string, pattern: string, at: string): Promise<readonly string[]> {
  const events = await ask(root, { pattern, at })
  return events
    .filter(({ type }) => type === 'match')
    .map(({ data }) => `.${data.path.text}:${data.line_number}:${data.lines.text.trimEnd()}`)
    .toSorted()
}

const path = fc.constantFrom('/a', '/b', '/d/a', '/d/e/b', '/d', '/n/x')
const text = fc
  .array(fc.constantFrom('needle', 'hay', 'Needles', 'straw', ''), { maxLength: 5 })
  .map((words) => words.map((word) => `${word}\n`).join(''))
const change = fc.oneof(
  fc.record({ op: fc.constant('write'), path, text, parents: fc.constant(true) }),
  fc.record({ op: fc.constant('remove'), path, recursive: fc.constant(true) }),
  fc.record({ op: fc.constant('move'), path, to: path, parents: fc.constant(true) }),
)
const story = fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), {
  minLength: 2,
  maxLength: 4,
})

describe.skipIf(!hasRipgrep)('a point in time', () => {
  it('a point in time is searched, found and ranked as a checkout of it', async () => {
    await fc.assert(
      fc.asyncProperty(story, async (steps) => {
        const root = await makeFiles({ a: 'needle\n', 'd/a': 'hay\n' })
        await post(`${root}/layers`, { name: 'l', path: '/' })
        for (const [at, operations] of steps.entries()) {
          for (const operation of operations)
            await post(`${root}/batch?layer=l`, { operations: [operation] })
          expect(await post(`${root}/layers/l/checkpoints`, { label: `p${at}` })).toBe(201)
          if (at === 1) await ranked(root)
        }
        await index.settled()
        for (const at of steps.keys()) {
          const archive = await get(`${root}/files/?archive=tar&at=p${at}`)
          await withTemporaryDirectory(async (directory) => {
            const [tar, checkout] = [join(directory, 'a.tar'), join(directory, 'tree')]
            writeFileSync(tar, archive)
            mkdirSync(checkout)
            spawnSync('tar', ['xf', tar, '-C', checkout])
            expect(await found(root, `p${at}`)).toEqual(listed(checkout))
            for (const pattern of ['needle', '(?i)^needles?$', 'hay|straw', '[ns]'])
              expect(await grepped(root, pattern, `p${at}`)).toEqual(ripgrep(checkout, pattern))
          })
          const fresh = await makeFiles({})
          expect(await post(`${fresh}/files/?import`, archive)).toBe(200)
          expect(await ranked(root, `&at=p${at}`)).toEqual(await ranked(fresh))
        }
      }),
      { seed: 7, numRuns: 4 * Number(process.env['CAIRN_RUNS'] ?? 1) },
    )
  })
})
