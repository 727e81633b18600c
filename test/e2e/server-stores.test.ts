// `cairn server check` and `cairn server gc`, on what a server that was stopped left behind.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Cairn, type CollectReport } from '@cairn/sdk'
import { serve } from '@cairn/server'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useCairn } from './run-cairn.ts'
import { keyFile } from '@cairn/server/testing/key-file'

const cairn = useCairn()
let data = ''

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'cairn-stores-'))
  const { url, ownerKey, close } = await serve({ data, listen: '127.0.0.1:0' })
  const { workspaces } = new Cairn({ server: url, apiKey: ownerKey! })
  await workspaces.create('w')
  const workspace = new Cairn({ server: url, apiKey: ownerKey! }).workspace('w')
  await workspace.files.write('/large', randomBytes(200_000))
  await workspace.layers.create('/', { name: 'dropped' })
  await workspace.layer('dropped').files.write('/a', 'a'.repeat(200))
  await workspace.layers.delete('dropped')
  for (let index = 0; index < 21; index++) {
    await workspace.layers.create('/', { name: `over-${index}` })
    await workspace.layers.abandon(`over-${index}`)
  }
  await workspaces.create('gone')
  await workspaces.delete('gone')
  await close()
})

afterAll(() => rmSync(data, { recursive: true }))

it('a directory in use is left alone', async () => {
  const other = mkdtempSync(join(tmpdir(), 'cairn-used-'))
  const { close } = await serve({ data: other, listen: '127.0.0.1:0' })
  try {
    for (const job of ['check', 'gc'])
      expect((await cairn.run(['server', job, '--data', other])).code).not.toBe(0)
  } finally {
    await close()
    rmSync(other, { recursive: true })
  }
})

it('gc tells what it would take, and takes it', async () => {
  expect(
    await cairn.text('server', 'gc', '--data', data, '--dry-run', '--grace-days', '0'),
  ).toMatch(
    /^would take away 23 deleted branches, \d+ nodes and \d+ blobs, .* bytes\nof them 21 layers that were over\n {2}workspace gone, deleted 20\S+\n( {2}layer over-\d+ \(\S+\) of w, abandoned 20\S+\n){19} {2}and 3 more: --json has them all\nkept \d+ nodes/,
  )
  const dry = ['server', 'gc', '--data', data, '--dry-run', '--grace-days', '0']
  const [{ gone } = { gone: undefined }] = await cairn.json<CollectReport>(...dry)
  expect([gone?.workspaces.length, gone?.layers.length, gone?.branches.length]).toEqual([1, 21, 23])
  await cairn.text('server', 'gc', '--data', data, '--grace-days', '0')
  expect(await cairn.json('server', 'gc', '--data', data, '--grace-days', '0')).toMatchObject([
    { dryRun: false, branches: 0, removed: { nodes: { count: 0 }, blobs: { count: 0 } } },
  ])
})

it('check says that all is well, or what is not', async () => {
  expect(await cairn.text('server', 'check', '--data', data)).toMatch(
    /^read 1 branches, \d+ batches, \d+ nodes and \d+ blobs: 0 problems\n$/,
  )
  const [victim] = readdirSync(join(data, 'objects'), { recursive: true, encoding: 'utf8' })
    .map((name) => join(data, 'objects', name))
    .filter((path) => statSync(path).isFile())
  if (victim === undefined) throw new Error('no object was stored')
  const bytes = await readFile(victim)
  bytes[bytes.length - 1]! ^= 1
  writeFileSync(victim, bytes)
  const { code, stdout, stderr } = await cairn.run(['server', 'check', '--data', data])
  expect(code).toBe(11)
  expect(stdout.toString()).toMatch(/^damaged: .*blob.*\n {2}of \/large in main of w \(head/)
  expect(stderr).toContain('restore')
  expect(await cairn.error('server', 'check', '--data', data)).toMatchObject({
    code: 'damaged_store',
    exit: 11,
  })
})

it('a directory that is not there is refused, and not made', async () => {
  const nowhere = join(cairn.home(), 'nowhere')
  for (const command of ['check', 'gc'])
    expect(await cairn.error('server', command, '--data', nowhere)).toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('there is no such directory') as string,
    })
  expect(existsSync(nowhere)).toBe(false)
})

it('a server that runs is asked, and collects beside its writers', async () => {
  const other = mkdtempSync(join(tmpdir(), 'cairn-running-'))
  const { url, ownerKey, close } = await serve({ data: other, listen: '127.0.0.1:0' })
  try {
    const to = ['--server', url, '--api-key-file', keyFile(ownerKey!)]
    expect(await cairn.text('server', 'gc', ...to, '--dry-run')).toMatch(/^would take away 0 /)
    expect(await cairn.json('server', 'gc', ...to)).toMatchObject([{ dryRun: false }])
    const stranger = ['--server', url, '--api-key-file', keyFile('not-a-key')]
    expect(await cairn.error('server', 'gc', ...stranger)).toMatchObject({
      code: 'unauthenticated',
    })
  } finally {
    await close()
    rmSync(other, { recursive: true })
  }
})
