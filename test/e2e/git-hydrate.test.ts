// What a partial clone lacks comes into the workspace later, whatever becomes of the origin.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Workspace } from '@cairn/sdk'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Fate, GitHost } from './git-host.ts'
import { useCairn } from './run-cairn.ts'
import { useServer } from './use-server.ts'

const cairn = useCairn()
const server = useServer(cairn)
let workspace: Workspace
let local: string
let origin: string
let host: GitHost
let url: string

const safe = ['-c', 'safe.directory=*', '-c', 'user.name=n', '-c', 'user.email=n@example.org']
/** As many as one version of the files has. The first batch has 100. */
const files = 150

function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', [...safe, ...args], { cwd, encoding: 'utf8', stdio: 'pipe' })
}

beforeEach(async () => {
  workspace = await server.enter()
  local = join(cairn.home(), workspace.name)
  origin = join(local, 'origin')
  makeOrigin(origin)
  host = await GitHost.open(local)
  url = `${host.url}/origin/.git`
})
// Their host is this process: git that is waited for could not reach it.
afterEach(async () => {
  await host.close()
  rmSync(local, { recursive: true })
})

function makeOrigin(path: string, ...init: string[]): void {
  mkdirSync(join(path, 'a'), { recursive: true })
  git(path, 'init', '-q', '-b', 'main', ...init)
  for (const setting of ['uploadpack.allowFilter', 'uploadpack.allowAnySHA1InWant'])
    git(path, 'config', setting, 'true')
  for (const version of ['old', 'new']) {
    for (let file = 0; file < files; file++)
      writeFileSync(join(path, `a/${file}`), `${version} ${file}\n`)
    git(path, 'add', '-A')
    git(path, 'commit', '-q', '-m', version)
    git(path, 'tag', version)
  }
}

async function clone(hydrate: string, ...options: string[]): Promise<string> {
  const words = ['--fast', '--blobless', `--hydrate=${hydrate}`, ...options]
  return cairn.text('git', 'clone', ...words, url, ':/repo')
}

/** The clone as a directory of this machine. */
async function fetched(): Promise<string> {
  const target = join(local, 'fetched')
  rmSync(target, { recursive: true, force: true })
  await cairn.text('fs', 'cp', '-r', ':/repo', target)
  return target
}

async function missing(): Promise<number> {
  const lines = git(await fetched(), 'rev-list', '--objects', '--all', '--missing=print')
  return lines.split('\n').filter((line) => line.startsWith('?')).length
}

function note(): Promise<{ state: string; reason?: string; fetched: number } | undefined> {
  return workspace.files.readText('/repo/.git/cairn-hydrate').then(
    (text) => JSON.parse(text) as { state: string; fetched: number },
    () => undefined,
  )
}

/** What a clone of everything has, and no more. */
async function expectWhole(): Promise<void> {
  git(local, 'clone', '-q', `file://${origin}`, 'plain')
  await host.close()
  const [plain, fast] = [join(local, 'plain'), await fetched()]
  git(plain, 'config', 'remote.origin.url', url)
  const settings = git(fast, 'config', '--local', '--list').split('\n')
  expect(settings.filter((line) => !/^core\.(?:fsmonitor|untracked)/.test(line)).join('\n')).toBe(
    // A format that knows of partial clones; git leaves it, too.
    git(plain, 'config', '--local', '--list').replace('version=0', 'version=1'),
  )
  for (const question of [
    ['log', '-p', '--all'],
    ['status', '--porcelain'],
    ['fsck', '--full', '--strict'],
  ])
    expect(git(fast, ...question), question.join(' ')).toBe(git(plain, ...question))
  const packs = await workspace.files.listPage('/repo/.git/objects/pack')
  expect(packs.items.filter(({ name }) => name.endsWith('.promisor'))).toEqual([])
  git(fast, 'gc', '-q')
  expect(git(fast, 'rev-list', '--objects', '--all')).toBe(
    git(plain, 'rev-list', '--objects', '--all'),
  )
}

describe('a blobless clone', () => {
  it('a blobless clone has the content of HEAD at once, and tells why the rest does not come', async () => {
    await clone('off')
    const ofClone = host.requests
    await workspace.files.remove('/repo', { recursive: true })
    host.fate = (request) => (request > 2 * ofClone ? 'unanswered' : 'answered')
    expect(await clone('background')).toContain('see: cairn git status')
    expect(await workspace.files.readText('/repo/a/7')).toBe('new 7\n')
    expect(await note()).toMatchObject({ state: 'running' })
    await host.close()
    const failed = { state: 'failed', reason: expect.stringContaining('fatal:') as string }
    await expect.poll(note, { timeout: 30_000 }).toMatchObject(failed)
    expect(await missing()).toBe(files)
  })

  it('a blobless clone is a whole one when the command is back, with --hydrate=sync', async () => {
    await clone('sync')
    expect(await note()).toBeUndefined()
    await expectWhole()
  })

  it('a blobless clone is a whole one when the command is back, if little is missing, with --hydrate=auto', async () => {
    await clone('auto')
    expect(await missing()).toBe(0)
  })

  it('becomes a whole one in the background', async () => {
    await clone('background')
    await expect.poll(note, { timeout: 30_000 }).toBeUndefined()
    await expectWhole()
  })

  it('stays one with --hydrate=off, until cairn git hydrate', async () => {
    await clone('off')
    expect(await missing()).toBe(files)
    const [first] = await cairn.json('git', 'hydrate', ':/repo')
    expect(first).toMatchObject({ path: '/repo', fetched: files, origin: url })
    const [again] = await cairn.json('git', 'hydrate', ':/repo')
    expect(again).toMatchObject({ fetched: 0 })
    await expectWhole()
  })

  it('a blobless clone of SHA-256, in a layer, becomes a whole one', async () => {
    rmSync(origin, { recursive: true })
    makeOrigin(origin, '--object-format=sha256')
    await workspace.layers.create('/', { name: 'attempt' })
    await clone('off', '--layer', 'attempt')
    const [receipt] = await cairn.json('git', 'hydrate', '--layer', 'attempt', ':/repo')
    expect(receipt).toMatchObject({ fetched: files })
    expect(await workspace.files.exists('/repo')).toBe(false)
    await workspace.layers.commit('attempt')
    expect(await missing()).toBe(0)
  })
})

describe('a clone whose origin goes away meanwhile', () => {
  /** The requests that fetch objects, after those of the clone. */
  function afterClone(fate: (request: number) => Fate): void {
    const before = host.requests
    host.fate = (request) => fate(request - before)
  }
  /** Each fetch asks for refs with one request and for objects with another. */
  const requestsOfBatch = 1

  it('keeps what has arrived, says which origin, and goes on later', async () => {
    await clone('off')
    afterClone((request) => (request > requestsOfBatch ? 'refused' : 'answered'))
    const { stderr, code } = await cairn.run(['git', 'hydrate', ':/repo'])
    expect(code).not.toBe(0)
    expect(stderr).toContain(`cannot fetch what /repo/.git lacks from ${url}`)
    expect(stderr).toContain('503')
    expect(stderr).toMatch(/50 objects are missing[^]*cairn git hydrate :\/repo/)
    expect(await note()).toMatchObject({ state: 'failed', fetched: 100, missing: 50 })
    expect(await missing()).toBe(files - 100)

    host.fate = () => 'answered'
    const [receipt] = await cairn.json('git', 'hydrate', ':/repo')
    expect(receipt).toMatchObject({ fetched: files - 100 })
    await expectWhole()
  })

  it('is not made again when it was removed while its objects were fetched', async () => {
    await clone('off')
    afterClone((request) => (request > requestsOfBatch ? 'unanswered' : 'answered'))
    const hydrate = cairn.start(['git', 'hydrate', ':/repo'])
    const ended = once(hydrate, 'exit')
    await expect.poll(note, { timeout: 30_000 }).toMatchObject({ state: 'running', fetched: 100 })
    await workspace.files.remove('/repo', { recursive: true })
    host.fate = () => 'refused'
    host.cut()
    await ended
    expect(await workspace.files.exists('/repo')).toBe(false)
  })

  it('keeps what has arrived when the command is killed', async () => {
    await clone('off')
    afterClone((request) => (request > requestsOfBatch ? 'unanswered' : 'answered'))
    const hydrate = cairn.start(['git', 'hydrate', ':/repo'])
    const ended = once(hydrate, 'exit')
    await expect.poll(note, { timeout: 30_000 }).toMatchObject({ state: 'running', fetched: 100 })
    expect(await cairn.error('git', 'hydrate', ':/repo')).toMatchObject({
      code: 'precondition_failed',
    })
    hydrate.kill('SIGKILL')
    await ended
    expect(await missing()).toBe(files - 100)
    const { items } = await workspace.files.listPage('/repo/.git/objects/pack')
    expect(items.filter(({ name }) => !/^pack-\w+\.(?:pack|idx|rev|promisor)$/.test(name))).toEqual(
      [],
    )
    host.fate = () => 'answered'
    await cairn.text('git', 'hydrate', ':/repo')
    await expectWhole()
  })
})

it('settings of the repository run no program when its objects are fetched', async () => {
  await clone('off')
  const mark = join(local, 'mark')
  const config = await workspace.files.readText('/repo/.git/config')
  const evil = `!touch ${mark}; false`
  await workspace.files.write(
    '/repo/.git/config',
    `${config}[core]\n\tfsmonitor = "touch ${mark}"\n\tgitProxy = "touch ${mark}"\n\thooksPath = /repo/.git/hooks\n[credential]\n\thelper = "${evil}"\n[remote "origin"]\n\tuploadpack = "touch ${mark}"\n`,
  )
  await cairn.text('git', 'hydrate', ':/repo')
  expect(await missing()).toBe(0)
  expect(() => execFileSync('test', ['!', '-e', mark])).not.toThrow()
  expect(await workspace.files.readText('/repo/.git/config')).toContain('gitProxy')
})

it.each([
  ['', ['read', 'list', 'write', 'delete']],
  [', also without the right to delete', ['read', 'list', 'write']],
] as const)('a token that may write there can bring its clone in%s', async (_, operations) => {
  await clone('off')
  const allow = [{ path: '/repo', operations }]
  const { secret } = await workspace.tokens.issue('t', { ttlMs: 60_000, allow })
  const env = { CAIRN_SERVER: server.url, CAIRN_API_KEY: secret }
  const words = ['git', 'hydrate', '-w', workspace.name, ':/repo']
  const { code, stderr } = await cairn.run(words, { env })
  expect([code, stderr]).toEqual([0, ''])
  expect(await missing()).toBe(0)
})
