import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Site } from '../mount/fixture.ts'

interface Started {
  readonly name: string
  readonly key: string
  readonly isHit: boolean
}

let site: Site
let here: string
let lock: string

beforeAll(async () => {
  site = await Site.open()
  here = mkdtempSync(join(tmpdir(), 'cairn-warm-'))
  lock = join(here, 'lock')
  writeFileSync(lock, 'left-pad 1')
  writeFileSync(join(here, 'source'), 'one')
  await site.cairn(['fs', 'cp', join(here, 'source'), ':/source'])
})
afterAll(async () => {
  await site.close()
  rmSync(here, { recursive: true })
})

const warm = async (name: string, script: string): Promise<Started> => {
  const args = ['ws', 'warm', '--json', '--key-file', lock, '--name', name]
  const { stdout } = await site.cairn([...args, '--', 'sh', '-c', script])
  return JSON.parse(stdout) as Started
}
const cat = async (path: string, layer: string): Promise<string> =>
  (await site.cairn(['fs', 'cat', '--layer', layer, `:${path}`])).stdout

const install = 'mkdir deps && date +%N > deps/installed'

it('the first start runs the command, and the second one has its result and the newest source', async () => {
  const first = await warm('first', install)
  expect(first.isHit).toBe(false)
  const installed = await cat('/deps/installed', 'first')
  writeFileSync(join(here, 'source'), 'two')
  await site.cairn(['fs', 'cp', join(here, 'source'), ':/source'])
  const second = await warm('second', install)
  expect(second).toMatchObject({ isHit: true, key: first.key })
  expect(await cat('/deps/installed', 'second')).toBe(installed)
  expect(await cat('/source', 'second')).toBe('two')
})

it('a commit of a warm layer brings the result to main', async () => {
  await site.cairn(['fs', 'layer', 'commit', 'second'])
  expect((await site.cairn(['fs', 'cat', ':/deps/installed'])).stdout).toMatch(/^\d+\n$/)
})

it('another lock file is another key', async () => {
  writeFileSync(lock, 'left-pad 2')
  expect(await warm('third', 'echo 2 > version')).toMatchObject({ isHit: false })
})

it('a command that fails is tried again the next time', async () => {
  writeFileSync(lock, 'left-pad 3')
  const args = ['ws', 'warm', '--key-file', lock, '--', 'sh', '-c', 'exit 7']
  expect((await site.tryCairn(args)).code).toBe(7)
  expect((await site.tryCairn(args)).code).toBe(7)
})
