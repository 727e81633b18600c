// `cairn server verify-stores`, on a directory: other stores are in packages/server/src/verify.
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitUntil } from '@cairn/server/testing'
import type { VerifyReport } from '@cairn/server/verify'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useCairn } from './run-cairn.ts'

const cairn = useCairn()
let data = ''
beforeAll(() => {
  data = mkdtempSync(join(tmpdir(), 'cairn-verify-'))
  writeFileSync(join(data, 'meta.db'), 'what a server keeps')
})
afterAll(() => rmSync(data, { recursive: true }))

it('a fit directory: one value with --json, exit code 0, nothing left and nothing lost', async () => {
  const [report] = await cairn.json<VerifyReport>('server', 'verify-stores', '--data', data)
  expect(report).toMatchObject({ isFit: true, database: `SQLite in ${data}` })
  const { suites, speeds } = report!
  expect(suites.every(({ passed }) => passed > 0)).toBe(true)
  expect(suites.map(({ name }) => name)).toContain('blobs')
  expect(new Set(speeds.map(({ store }) => store)).size).toBe(2)
  for (const { p50Ms, p99Ms, requests } of speeds) {
    expect(p99Ms).toBeGreaterThanOrEqual(p50Ms)
    expect(requests).toBeGreaterThan(0)
  }
  expect(readdirSync(data)).toEqual(['meta.db'])
}, 120_000)

it('a directory that is not there: what fails, the command that fixes it, exit code 1', async () => {
  const none = join(data, 'none')
  const { code, stdout, stderr } = await cairn.run(['server', 'verify-stores', '--data', none])
  expect(code).toBe(1)
  expect(stdout.toString()).toContain(
    `fail  database  connection  cannot use ${none}: there is no such directory. Fix: Make the directory, or name another: mkdir -p ${none}`,
  )
  expect(stderr).toBe(
    'cairn server verify-stores: cannot rely on these stores: these failed: connection (database), connection (objects). Fix what is marked `fail`, then run this command again.\n',
  )
})

it('Ctrl-C leaves nothing behind', async () => {
  const child = cairn.start(['server', 'verify-stores', '--data', data])
  const ended = once(child, 'close')
  await waitUntil('the scratch stores are there', async () => readdirSync(data).length === 3)
  child.kill('SIGINT')
  expect((await ended)[0]).toBe(130)
  expect(readdirSync(data)).toEqual(['meta.db'])
})
