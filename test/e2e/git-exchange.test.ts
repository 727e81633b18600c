// cairn git export and cairn git import: a workspace as a repository, and back.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { keyFile } from '@cairn/server/testing/key-file'
import { useCairn } from './run-cairn.ts'
import { useServer } from './use-server.ts'

const cairn = useCairn()
const server = useServer(cairn)

function git(cwd: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=n', '-c', 'user.email=n@example.org']
  return execFileSync('git', [...identity, ...args], { cwd, encoding: 'utf8', stdio: 'pipe' })
}

it('what is exported, changed and imported is in a layer; the key is stored nowhere', async () => {
  const workspace = await server.enter()
  const local = join(cairn.home(), workspace.name)
  mkdirSync(local)
  const review = join(local, 'review')
  await workspace.files.write('/a', 'one\n')
  expect(await cairn.json('git', 'export', review)).toEqual([{ path: review, done: 'cloned' }])
  writeFileSync(join(review, 'a'), 'two\n')
  git(review, 'commit', '-q', '-a', '-m', 'second')
  await cairn.text('git', 'import', review, 'fix')
  expect(await workspace.layer('fix').files.readText('/a')).toBe('two\n')
  expect(await workspace.files.readText('/a')).toBe('one\n')
  await workspace.layers.commit('fix')
  expect(await cairn.json('git', 'export', review)).toEqual([{ path: review, done: 'fetched' }])
  expect(git(review, 'show', 'origin/main:a')).toBe('two\n')
  const bundle = join(local, 'all.bundle')
  await cairn.text('git', 'export', bundle)
  git(local, 'clone', '-q', '-b', 'main', bundle, 'copy')
  expect(readFileSync(join(local, 'copy/a'), 'utf8')).toBe('two\n')
  writeFileSync(join(local, 'copy/b'), 'of a bundle\n')
  git(join(local, 'copy'), 'add', '-A')
  git(join(local, 'copy'), 'commit', '-q', '-m', 'third')
  git(join(local, 'copy'), 'bundle', 'create', '-q', join(local, 'back.bundle'), 'HEAD', 'main')
  await cairn.text('git', 'import', join(local, 'back.bundle'), 'more')
  expect(await workspace.layer('more').files.readText('/b')).toBe('of a bundle\n')
  expect(spawnSync('grep', ['-rlaF', server.apiKey, local], { encoding: 'utf8' }).stdout).toBe('')
})

it('another repository and a directory in the way are refused in words', async () => {
  const workspace = await server.enter()
  const local = join(cairn.home(), workspace.name)
  mkdirSync(local)
  await workspace.files.write('/a', 'one\n')
  git(local, 'init', '-q', 'other')
  git(join(local, 'other'), 'commit', '-q', '--allow-empty', '-m', 'x')
  const { code, stderr } = await cairn.run(['git', 'import', join(local, 'other'), 'fix'])
  expect([code === 0, stderr]).toEqual([
    false,
    expect.stringContaining('its history does not come from this workspace'),
  ])
  expect(await cairn.error('git', 'export', join(local, 'other'))).toMatchObject({ code: 'usage' })
})

it('a token exports what it reads, and imports where it may write', async () => {
  const workspace = await server.enter()
  const local = join(cairn.home(), workspace.name)
  mkdirSync(local)
  await workspace.files.write('/src/a', 'one\n')
  await workspace.files.write('/hidden', 'x\n')
  const allow = [{ path: '/src', operations: ['read', 'list', 'write'] as const }]
  const { secret } = await workspace.tokens.issue('t', { ttlMs: 60_000, allow })
  const asToken = ['--server', server.url, '--api-key-file', keyFile(secret), '-w', workspace.name]
  const review = join(local, 'review')
  await cairn.text('git', 'export', ...asToken, review)
  expect(git(review, 'ls-files')).toBe('src/a\n')
  writeFileSync(join(review, 'src/a'), 'two\n')
  git(review, 'commit', '-q', '-a', '-m', 'second')
  await cairn.text('git', 'import', ...asToken, review, 'fix')
  expect(await workspace.layer('fix').files.readText('/src/a')).toBe('two\n')
})
