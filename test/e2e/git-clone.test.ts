// cairn git clone, beside git clone itself.
import { type ChildProcess, execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Workspace } from '@cairn/sdk'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { noMount } from '../mount/fixture.ts'
import { useCairn } from './run-cairn.ts'
import { useServer } from './use-server.ts'

const cairn = useCairn()
const server = useServer(cairn)
let workspace: Workspace
let local: string

beforeEach(async () => {
  workspace = await server.enter()
  local = join(cairn.home(), workspace.name)
  mkdirSync(local)
})

const identity = ['-c', 'user.name=n', '-c', 'user.email=n@example.org']

function git(cwd: string, ...args: string[]): string {
  const safe = ['-c', 'safe.directory=*', '-c', 'protocol.file.allow=always', ...identity]
  return execFileSync('git', [...safe, ...args], { cwd, encoding: 'utf8', stdio: 'pipe' })
}

/** A repository with what may go wrong. */
function makeRepository(name: string, ...init: string[]): string {
  const path = join(local, name)
  git(local, 'init', '-q', '-b', 'trunk', ...init, path)
  mkdirSync(join(path, 'deep/er'), { recursive: true })
  writeFileSync(join(path, 'plain.txt'), 'one\n')
  writeFileSync(join(path, 'empty'), '')
  writeFileSync(join(path, 'deep/er/run.sh'), '#!/bin/sh\n')
  chmodSync(join(path, 'deep/er/run.sh'), 0o755)
  writeFileSync(
    Buffer.concat([Buffer.from(`${path}/n`), Buffer.from([0xff, 0x0a]), Buffer.from('x')]),
    'odd',
  )
  writeFileSync(join(path, 'big'), Buffer.alloc(700_000, 'abcdefg'))
  symlinkSync('deep/er/run.sh', join(path, 'link'))
  git(path, 'add', '-A')
  git(path, 'commit', '-q', '-m', 'first')
  git(path, 'tag', 'v1')
  writeFileSync(join(path, 'plain.txt'), 'two\n')
  git(path, 'mv', 'big', 'large')
  git(path, 'commit', '-q', '-a', '-m', 'second')
  return path
}

/** The clone as a directory of this machine. */
async function fetched(path: string): Promise<string> {
  const target = join(local, 'fetched')
  await cairn.text('fs', 'cp', '-r', path, target)
  return target
}

/** What git answers in a clone, and what both have. */
function expectSame(plain: string, fast: string): void {
  for (const question of [
    ['log', '--stat', '--all'],
    ['status', '--porcelain'],
    ['ls-files', '-s', '-t'],
    ['show-ref'],
    ['rev-parse', 'HEAD'],
    ['stash', 'list'],
  ])
    expect(git(fast, ...question), question.join(' ')).toBe(git(plain, ...question))
  const settings = git(plain, 'config', '--local', '--list')
  const own = git(fast, 'config', '--local', '--list').split('\n')
  expect(own.filter((line) => !/^core\.(?:fsmonitor|untracked)/.test(line)).join('\n')).toBe(
    settings,
  )
  expect(git(fast, 'fsck', '--full', '--strict')).toBe('')
  const differences = spawnSync('diff', ['-r', '--no-dereference', '-x', '.git', plain, fast], {
    encoding: 'utf8',
  })
  expect(differences.stdout).toBe('')
  expect(statSync(join(fast, 'deep/er/run.sh')).mode & 0o777).toBe(0o755)
}

describe.each([
  ['', [], []],
  ['of SHA-256', ['--object-format=sha256'], []],
  ['blobless', [], ['--blobless', '--hydrate=off']],
  ['with a depth and a tag', [], ['--depth', '1', '--branch', 'v1']],
] as const)('a clone %s', (_, init, options) => {
  it('a clone is what git clone makes', async () => {
    const origin = makeRepository('origin', ...init)
    git(origin, 'config', 'uploadpack.allowFilter', 'true')
    git(origin, 'config', 'uploadpack.allowAnySHA1InWant', 'true')
    const url = `file://${origin}`
    await cairn.text('git', 'clone', '--fast', ...options, url, ':/repo')
    const names = options
      .filter((option) => !option.startsWith('--hydrate'))
      .map((option) => (option === '--blobless' ? '--filter=blob:none' : option))
    git(local, 'clone', '-q', ...names, url, join(local, 'plain'))
    expectSame(join(local, 'plain'), await fetched(':/repo'))
    expect(await workspace.files.exists('/repo/.git/cairn-clone')).toBe(false)
  })
})

it('line ends, keywords, filters and submodules are those of a checkout', async () => {
  const origin = makeRepository('origin')
  const other = makeRepository('other')
  writeFileSync(
    join(origin, '.gitattributes'),
    '*.crlf eol=crlf\n*.id ident\n*.up filter=up\n*.lf text=auto\n',
  )
  writeFileSync(join(origin, 'a.crlf'), 'one\ntwo\n')
  writeFileSync(join(origin, 'a.id'), '$Id$\n')
  writeFileSync(join(origin, 'a.lf'), 'one\n')
  writeFileSync(join(origin, 'a.up'), 'up\n')
  git(origin, 'submodule', '-q', 'add', other, 'sub')
  git(origin, 'add', '-A')
  git(origin, 'commit', '-q', '-m', 'attributes')
  const text = await cairn.text('git', 'clone', '--fast', origin, ':/repo')
  expect(text).toContain('submodules are empty: sub')
  git(local, 'clone', '-q', origin, join(local, 'plain'))
  const fast = await fetched(':/repo')
  expectSame(join(local, 'plain'), fast)
  expect(await workspace.files.readText('/repo/a.crlf')).toBe('one\r\ntwo\r\n')
})

it('what is in the way is refused; a clone that was interrupted is finished', async () => {
  const origin = makeRepository('origin')
  await workspace.files.write('/repo/mine', 'x')
  await cairn.error('git', 'clone', '--fast', origin, ':/repo')
  expect(await workspace.files.readText('/repo/mine')).toBe('x')
  await cairn.text('git', 'clone', '--fast', origin, ':/new')
  await workspace.files.write('/new/.git/cairn-clone', `${origin}\n`)
  expect(await cairn.text('git', 'clone', '--fast', origin, ':/new')).toContain('it is whole')
  expect(await workspace.files.exists('/new/.git/cairn-clone')).toBe(false)
  expect(await cairn.error('git', 'clone', '--fast', origin, ':/new')).toMatchObject({
    code: 'usage',
  })
})

it('a repository that is not there leaves nothing, and names what git said', async () => {
  const { stderr, code } = await cairn.run([
    'git',
    'clone',
    '--fast',
    join(local, 'none'),
    ':/repo',
  ])
  expect(code).not.toBe(0)
  expect(stderr).toContain('does not exist')
  expect(await workspace.files.exists('/repo')).toBe(false)
})

it('a part of the history of this project', async () => {
  const here = fileURLToPath(new URL('../..', import.meta.url))
  const url = `file://${git(here, 'rev-parse', '--path-format=absolute', '--git-common-dir').trim()}`
  await cairn.text('git', 'clone', '--fast', '--depth', '3', url, ':/cairn')
  const fast = await fetched(':/cairn')
  expect(git(fast, 'fsck', '--full')).toBe('')
  expect(git(fast, 'status', '--porcelain')).toBe('')
  expect(git(fast, 'log', '--oneline').split('\n')).toHaveLength(4)
})

describe.skipIf(noMount)('in a mount', () => {
  // A process of its own: this one waits for the mount, and so would a server in it.
  let serving: ChildProcess

  beforeAll(async () => {
    const data = join(cairn.home(), 'data')
    serving = cairn.start(['serve', '--data', data, '--listen', '127.0.0.1:0', '--json'])
    await once(createInterface(serving.stdout!), 'line')
  })

  beforeEach(async () => {
    await cairn.text('ctx', 'use', 'local')
    await cairn.text('ws', 'create', `m-${workspace.name}`)
    await cairn.text('ctx', 'use', 'local', '-w', `m-${workspace.name}`)
  })

  afterEach(async () => {
    await cairn.run(['umount', '--force', join(local, 'work')])
  })

  afterAll(async () => {
    serving.kill()
    await once(serving, 'exit')
  })

  it('a clone in a mount is there at once; the index is fresh; changes are seen', async () => {
    const origin = makeRepository('origin')
    await cairn.text('mount', ':/', join(local, 'work'))
    const clone = join(local, 'work/repo')
    await cairn.text('git', 'clone', '--fast', origin, clone)
    expect(existsSync(join(clone, 'plain.txt'))).toBe(true)
    // Without a look into any file: git believes the index.
    expect(git(clone, 'diff-files')).toBe('')
    expect(git(clone, 'status', '--porcelain')).toBe('')
    appendFileSync(join(clone, 'plain.txt'), 'more\n')
    writeFileSync(join(clone, 'link-less'), 'new')
    writeFileSync(join(clone, 'empty'), 'x')
    expect(git(clone, 'status', '--porcelain')).toBe(' M empty\n M plain.txt\n?? link-less\n')
    git(clone, 'stash', '-u')
    expect(git(clone, 'status', '--porcelain')).toBe('')
    git(clone, 'checkout', '-q', 'v1')
    expect(git(clone, 'status', '--porcelain')).toBe('')
    git(clone, 'checkout', '-q', 'trunk')
    git(clone, 'stash', 'pop')
    git(clone, 'commit', '-q', '-a', '-m', 'third')
    expect(git(clone, 'fsck', '--full', '--no-dangling')).toBe('')
  })

  it('a file of the same size that is changed right after the clone is seen', async () => {
    const origin = makeRepository('origin')
    await cairn.text('mount', ':/', join(local, 'work'))
    const clone = join(local, 'work/repo')
    await cairn.text('git', 'clone', '--fast', origin, clone)
    writeFileSync(join(clone, 'plain.txt'), 'TWO\n')
    expect(git(clone, 'status', '--porcelain')).toBe(' M plain.txt\n')
  })
})
