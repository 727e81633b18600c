// Options of cairn git clone, beside git clone itself: what is left out, converted, fetched later, or secret.
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Workspace } from '@cairn/sdk'
import { serve } from '@cairn/server'
import { beforeEach, expect, it } from 'vitest'
import { keyFile } from '@cairn/server/testing/key-file'
import { GitHost } from './git-host.ts'
import { useCairn } from './run-cairn.ts'
import { useServer } from './use-server.ts'

const cairn = useCairn()
const server = useServer(cairn)
let workspace: Workspace
let local: string
let origin: string
let url: string

const safe = ['-c', 'safe.directory=*', '-c', 'user.name=n', '-c', 'user.email=n@example.org']

function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', [...safe, ...args], { cwd, encoding: 'utf8', stdio: 'pipe' })
}

beforeEach(async () => {
  workspace = await server.enter()
  local = join(cairn.home(), workspace.name)
  origin = join(local, 'origin')
  url = `file://${origin}`
  mkdirSync(join(origin, 'a/b'), { recursive: true })
  git(origin, 'init', '-q', '-b', 'main')
  for (const setting of ['uploadpack.allowFilter', 'uploadpack.allowAnySHA1InWant'])
    git(origin, 'config', setting, 'true')
  for (const path of ['top', 'a/file', 'a/b/deep'])
    writeFileSync(join(origin, path), `old ${path}\n`)
  git(origin, 'add', '-A')
  git(origin, 'commit', '-q', '-m', 'first')
  git(origin, 'tag', 'v1')
  writeFileSync(join(origin, 'top'), 'new\nnew\n')
  git(origin, 'commit', '-q', '-a', '-m', 'second')
})

/** Both trees without `.git`, and what git says of them. */
function expectSame(plain: string, fast: string): void {
  const { stdout } = spawnSync('diff', ['-r', '--no-dereference', '-x', '.git', plain, fast], {
    encoding: 'utf8',
  })
  expect(stdout).toBe('')
  for (const question of [
    ['status', '--porcelain'],
    ['ls-files', '-s', '-t'],
    ['log', '--format=%H', '--all'],
  ])
    expect(git(fast, ...question), question.join(' ')).toBe(git(plain, ...question))
}

async function fetched(): Promise<string> {
  const target = join(local, 'fetched')
  await cairn.text('fs', 'cp', '-r', ':/repo', target)
  return target
}

it('--sparse has the files of the top directory, and git adds others', async () => {
  await cairn.text('git', 'clone', '--fast', '--sparse', url, ':/repo')
  git(local, 'clone', '-q', '--sparse', url, 'plain')
  const [plain, fast] = [join(local, 'plain'), await fetched()]
  expectSame(plain, fast)
  for (const clone of [plain, fast]) git(clone, 'sparse-checkout', 'set', 'a/b')
  expectSame(plain, fast)
  expect(readdirSync(join(fast, 'a/b'))).toEqual(['deep'])
})

it('core.autocrlf of the user converts as in a checkout', async () => {
  const config = join(local, 'config')
  writeFileSync(config, '[core]\n\tautocrlf = true\n')
  const env = { GIT_CONFIG_GLOBAL: config }
  await cairn.run(['git', 'clone', '--fast', url, ':/repo'], { env })
  execFileSync('git', ['clone', '-q', url, join(local, 'plain')], {
    env: { ...process.env, ...env },
  })
  expect(await workspace.files.readText('/repo/top')).toBe('new\r\nnew\r\n')
  expect(readFileSync(join(local, 'plain/top'), 'utf8')).toBe('new\r\nnew\r\n')
})

it('files of git lfs stay pointers where git lfs is missing, and are named', async () => {
  const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n'
  writeFileSync(join(origin, '.gitattributes'), '*.bin filter=lfs diff=lfs merge=lfs -text\n')
  writeFileSync(join(origin, 'x.bin'), pointer)
  git(origin, '-c', 'filter.lfs.required=false', 'add', '-A')
  git(origin, 'commit', '-q', '-m', 'large')
  const noLfs = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }
  const { stdout } = await cairn.run(['git', 'clone', '--fast', url, ':/repo'], { env: noLfs })
  expect(stdout.toString()).toContain('1 files are kept by git lfs')
  expect(await workspace.files.readText('/repo/x.bin')).toBe(pointer)
})

it('--blobless --hydrate=off has the content of HEAD; git fetches older content when it is asked for', async () => {
  await cairn.text('git', 'clone', '--fast', '--blobless', '--hydrate=off', url, ':/repo')
  const fast = await fetched()
  const old = git(origin, 'rev-parse', 'v1:top').trim()
  const missing = (): string =>
    git(fast, 'rev-list', '--objects', '--all', '--missing=print')
      .match(/^\?.*$/gm)
      ?.join() ?? ''
  expect(missing()).toBe(`?${old}`)
  expect(git(fast, 'show', 'v1:top')).toBe('old top\n')
  expect(missing()).toBe('')
})

it('a clone that is killed can be repeated', async () => {
  const temporary = join(local, 'tmp')
  mkdirSync(temporary)
  const clone = cairn.start(['git', 'clone', '--fast', url, ':/repo'], { TMPDIR: temporary })
  const ended = once(clone, 'exit')
  // Git has begun.
  const made = (): readonly string[] =>
    readdirSync(temporary, { recursive: true, encoding: 'utf8' })
  await expect.poll(() => made().some((path) => path.endsWith('/HEAD'))).toBe(true)
  clone.kill('SIGKILL')
  await ended
  await cairn.text('git', 'clone', '--fast', url, ':/repo')
  git(local, 'clone', '-q', url, 'plain')
  expectSame(join(local, 'plain'), await fetched())
  expect(await workspace.files.exists('/repo/.git/cairn-clone')).toBe(false)
})

it.each([
  ['of a whole clone', []],
  ['of a partial clone', ['--blobless', '--hydrate=sync']],
])('a credential from the vault is stored nowhere else: %s', async (_, options) => {
  const password = 'Zj4vT9qLw2'
  const data = mkdtempSync(join(tmpdir(), 'cairn-git-'))
  const host = await GitHost.open(local, { password })
  const own = await serve({ data, listen: '127.0.0.1:0' })
  try {
    const add = ['--name', 'own', '--server', own.url, '--api-key-file', keyFile(own.ownerKey!)]
    await cairn.text('ctx', 'add', ...add)
    await cairn.text('ws', 'create', 'secretive', '--context', 'own')
    const at = ['--context', 'own', '-w', 'secretive']
    const setting = ['vault', 'set', 'host', 'token=-', ...at]
    const { code } = await cairn.run(setting, { stdin: password })
    expect(code).toBe(0)
    const wishes = ['--fast', '--credential', 'vault:host/token', ...at, ...options]
    await cairn.text('git', 'clone', ...wishes, `${host.url}/origin/.git`, ':/repo')
    const fast = join(local, 'fetched')
    await cairn.text('fs', 'cp', '-r', ...at, ':/repo', fast)
    expect(readFileSync(join(fast, 'top'), 'utf8')).toBe('new\nnew\n')
    const words = [password, Buffer.from(`x-access-token:${password}`).toString('base64')]
    for (const word of words)
      for (const place of [fast, data, cairn.home()])
        expect(spawnSync('grep', ['-rlaF', word, place], { encoding: 'utf8' }).stdout).toBe('')
  } finally {
    await host.close()
    await own.close()
    rmSync(data, { recursive: true })
  }
})
