// cairn ws export, verify and import: from SQLite and a directory to stores of both kinds.
import { appendFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Cairn, type Workspace } from '@cairn/sdk'
import { serve } from '@cairn/server'
import { type MysqlServer, startMysql, whyNoMysql } from '@cairn/server/testing'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { useCairn } from './run-cairn.ts'
import { useServer } from './use-server.ts'

const cairn = useCairn()
const server = useServer(cairn)
let workspace: Workspace
let bundle: string
let mysql: MysqlServer | undefined

beforeEach(async () => {
  workspace = await server.enter()
  bundle = join(cairn.home(), `${workspace.name}.cairn`)
  const { files, layers } = workspace
  await files.write('/repo/a', 'one\n')
  await files.write('/repo/big', Buffer.alloc(900_000, 'abcd'))
  await layers.create('/repo', { name: 'fix' })
  await server.cairn.workspace(workspace.name, { layer: 'fix' }).files.write('/repo/b', 'new\n')
  await files.write('/repo/a', 'two\n')
})

afterAll(() => mysql?.stop())

const isWhole = /^whole: workspace w\d+ of .*: 2 branches, .* batches, .* nodes, \d+ blobs and /

it('a bundle appears when it is whole, is verified without a server, and damage is found', async () => {
  await cairn.text('journal', 'new', '-id', 'run-42', '-title', 'run 42')
  await cairn.run(['journal', 'append', 'run-42'], { stdin: '{"type":"tool.call.completed"}\n' })
  await cairn.text('ws', 'export', workspace.name, bundle)
  const evidence = join(cairn.home(), 'evidence')
  const verified = await cairn.text('ws', 'verify', bundle, '--journals', evidence)
  expect(verified).toMatch(isWhole)
  expect(verified).toContain(' and 1 journals in ')
  await cairn.text('journal', 'verify', join(evidence, 'run-42.jsonl'))
  const { stdout } = await cairn.run(['ws', 'export', workspace.name])
  expect(stdout.length).toBe(statSync(bundle).size)
  const damaged = readFileSync(bundle)
  damaged[damaged.length >> 1]! ^= 1
  writeFileSync(`${bundle}.damaged`, damaged)
  expect(await cairn.error('ws', 'verify', `${bundle}.damaged`)).toMatchObject({
    code: 'malformed',
  })
  expect(await cairn.error('ws', 'import', bundle)).toMatchObject({ code: 'workspace_exists' })
  expect(await cairn.error('ws', 'import', bundle, `${bundle}.none`)).toMatchObject({
    code: 'local_file',
    errno: 'ENOENT',
  })
  expect(await cairn.error('ws', 'export', 'none', join(cairn.home(), 'none'))).toMatchObject({
    code: 'workspace_missing',
  })
})

describe.each([
  ['SQLite', undefined],
  [`MariaDB ${whyNoMysql ?? ''}`, whyNoMysql],
])('moved to %s', (kind, whyNot) => {
  it.skipIf(whyNot !== undefined)(
    'a workspace and what came later are there, and the stores are in order',
    async () => {
      const later = `${bundle}.later`
      await cairn.text('ws', 'export', workspace.name, bundle)
      await workspace.files.write('/repo/a', 'three\n')
      await cairn.text('ws', 'export', workspace.name, later, '--since', bundle)
      expect(statSync(later).size).toBeLessThan(statSync(bundle).size)
      expect(await cairn.error('ws', 'verify', later)).toMatchObject({ code: 'malformed' })

      const data = join(cairn.home(), `moved-${workspace.name}`)
      if (kind !== 'SQLite') mysql ??= await startMysql()
      const meta = mysql && kind !== 'SQLite' ? await mysql.createDatabase() : undefined
      const stores = { data, ...(meta === undefined ? {} : { meta }) }
      const { url, ownerKey, close } = await serve({ ...stores, listen: '127.0.0.1:0' })
      try {
        const keyFile = join(cairn.home(), `key-${workspace.name}`)
        appendFileSync(keyFile, ownerKey!, { mode: 0o600 })
        const to = ['--server', url, '--api-key-file', keyFile]
        const text = await cairn.text('ws', 'import', bundle, later, '--as', 'moved', ...to)
        expect(text).toContain('imported workspace moved')
        const moved = new Cairn({ server: url, apiKey: ownerKey! })
        const { files, layers } = moved.workspace('moved')
        expect(await files.readText('/repo/a')).toBe('three\n')
        expect(await files.read('/repo/big')).toHaveLength(900_000)
        const receipt = await layers.commit('fix', { message: 'Fix it' })
        expect(receipt.paths).toHaveLength(1)
        expect(await files.readText('/repo/b')).toBe('new\n')
      } finally {
        await close()
      }
      const check = ['server', 'check', '--data', data]
      const checked = await cairn.text(...check, ...(meta === undefined ? [] : ['--meta', meta]))
      expect(checked).toContain(' 0 problems')
      rmSync(data, { recursive: true })
    },
    120_000,
  )
})
