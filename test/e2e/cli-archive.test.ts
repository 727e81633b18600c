// cairn fs archive and fs import, beside tar and zip themselves.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Workspace } from '@cairn/sdk'
import { beforeEach, expect, it } from 'vitest'
import { useCairn } from './run-cairn.ts'
import { useServer } from './use-server.ts'

const cairn = useCairn()
const server = useServer(cairn)
let workspace: Workspace
let local: string

beforeEach(async () => {
  workspace = await server.enter()
  local = join(cairn.home(), workspace.name)
  mkdirSync(join(local, 'tree/d'), { recursive: true })
  writeFileSync(join(local, 'tree/d/run.sh'), '#!/bin/sh\n', { mode: 0o755 })
  writeFileSync(join(local, 'tree/big'), Buffer.alloc(3_000_000, 'abc'))
  execFileSync('ln', ['-s', 'd/run.sh', join(local, 'tree/link')])
})

const run = (...command: [string, ...string[]]): Buffer =>
  execFileSync(command[0], command.slice(1), { cwd: local })

it('a tar archive goes in and out, and tar finds no difference', async () => {
  run('tar', '--format=pax', '-czf', 'in.tgz', '-C', 'tree', '.')
  expect(await cairn.text('fs', 'import', join(local, 'in.tgz'), ':/repo')).toContain('2 files')
  await cairn.text('fs', 'archive', ':/repo', join(local, 'out.tar.gz'))
  mkdirSync(join(local, 'out'))
  run('tar', 'xzf', 'out.tar.gz', '-C', 'out')
  run('diff', '-r', '--no-dereference', 'tree', 'out')
  expect(statSync(join(local, 'out/d/run.sh')).mode & 0o777).toBe(0o755)
  const timeOf = (path: string): bigint => statSync(join(local, path), { bigint: true }).mtimeNs
  expect(timeOf('out/big')).toBe(timeOf('tree/big'))
})

it.each(['stored', 'deflated'])('a zip archive, %s', async (method) => {
  const script =
    'import os, zipfile\n' +
    `z = zipfile.ZipFile("in.zip", "w", zipfile.ZIP_${method.toUpperCase()})\n` +
    'z.write("tree/d", "d"); z.write("tree/big", "big"); z.write("tree/d/run.sh", "d/run.sh")\n' +
    'i = zipfile.ZipInfo("link"); i.create_system = 3; i.external_attr = 0o120777 << 16\n' +
    'z.writestr(i, "d/run.sh"); z.close()'
  run('python3', '-c', script)
  await cairn.text('fs', 'import', join(local, 'in.zip'), ':/')
  expect(await workspace.files.stat('/d/run.sh')).toMatchObject({ mode: '0755' })
  expect(await workspace.files.stat('/link', { follow: false })).toMatchObject({
    target: 'd/run.sh',
  })
  expect(Buffer.from(await workspace.files.read('/big'))).toEqual(
    readFileSync(join(local, 'tree/big')),
  )
})

it('an archive that leads out of its directory is refused, and so is one that is no archive', async () => {
  const script =
    'import zipfile; z = zipfile.ZipFile("bad.zip", "w"); z.writestr("../out", "x"); z.close()'
  run('python3', '-c', script)
  expect(await cairn.error('fs', 'import', join(local, 'bad.zip'), ':/repo')).toMatchObject({
    code: 'malformed',
  })
  expect(await cairn.error('fs', 'import', join(local, 'tree/big'), ':/repo')).toMatchObject({
    code: 'malformed',
  })
  expect(await workspace.files.exists('/repo')).toBe(false)
})

it('cp -r of many files is one change, and leaves nothing beside them', async () => {
  await cairn.text('fs', 'cp', '-r', join(local, 'tree'), ':/repo')
  const items = []
  for await (const entry of workspace.log()) items.push(entry)
  expect(items).toHaveLength(1)
  await cairn.text('fs', 'cp', '-r', ':/repo', join(local, 'back'))
  run('diff', '-r', '--no-dereference', 'tree', 'back')
  expect(readdirSync(join(local, 'back')).sort()).toEqual(['big', 'd', 'link'])
})
