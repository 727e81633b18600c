// cairn git worktree add and cairn git status, in a mount.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'
import { git } from './random/edits.ts'

function makeOrigin(site: Site): string {
  const path = join(site.directory, 'origin')
  git(site.directory, 'init', '-q', '-b', 'main', path)
  mkdirSync(join(path, 'a/b'), { recursive: true })
  writeFileSync(join(path, 'a/b/1'), 'one\n')
  execFileSync('ln', ['-s', 'a/b/1', join(path, 'link')])
  writeFileSync(join(path, 'run'), '#!/bin/sh\n', { mode: 0o755 })
  git(path, 'add', '-A')
  git(path, 'commit', '-q', '-m', 'first')
  git(path, 'tag', 'v1')
  writeFileSync(join(path, 'a/2'), 'two\n')
  git(path, 'add', '-A')
  git(path, 'commit', '-q', '-a', '-m', 'second')
  git(path, 'checkout', '-q', '-b', 'crlf')
  writeFileSync(join(path, '.gitattributes'), '*.txt eol=crlf\n')
  writeFileSync(join(path, 'x.txt'), 'a\nb\n')
  git(path, 'add', '-A')
  git(path, 'commit', '-q', '-a', '-m', 'converted')
  git(path, 'checkout', '-q', 'main')
  return path
}

describe.skipIf(noMount)('a clone in a mount', () => {
  let site: Site
  let origin: string
  let mount: SiteMount
  let clone: string

  beforeAll(async () => {
    site = await Site.open()
    origin = makeOrigin(site)
    mount = await site.mount('/')
    clone = mount.path('repo')
    await cairn('clone', '--fast', origin, clone)
    git(site.directory, 'clone', '-q', origin, 'plain')
  })
  afterAll(() => site.close())

  const cairn = async (...words: string[]): Promise<string> =>
    (await site.cairn(['git', ...words], mount.home)).stdout

  it.each([
    ['a tag', 'tagged', 'v1'],
    ['a new branch', 'fresh', undefined],
    ['files that are converted', 'converted', 'origin/crlf'],
  ])('a worktree of %s is what git makes', async (_, name, rev) => {
    const revs = rev === undefined ? [] : [rev]
    await cairn('worktree', 'add', '--fast', clone, mount.path(name), ...revs)
    git(join(site.directory, 'plain'), 'worktree', 'add', `../trees/${name}`, ...revs)
    const [fast, plain] = [mount.path(name), join(site.directory, 'trees', name)]
    // Without a look into any file.
    expect(git(fast, 'diff-files')).toBe('')
    for (const question of [
      ['status', '--porcelain', '-b'],
      ['ls-files', '-s'],
      ['rev-parse', 'HEAD'],
    ])
      expect(git(fast, ...question), question.join(' ')).toBe(git(plain, ...question))
    const { stdout } = spawnSync('diff', ['-r', '--no-dereference', '-x', '.git', plain, fast], {
      encoding: 'utf8',
    })
    expect(stdout).toBe('')
    writeFileSync(join(fast, 'a/b/1'), 'ONE\n')
    expect(git(fast, 'status', '--porcelain')).toBe(' M a/b/1\n')
    git(clone, 'worktree', 'remove', '--force', fast)
    expect(existsSync(fast)).toBe(false)
    expect(git(clone, 'fsck', '--full', '--no-dangling')).toBe('')
  })

  it('a worktree that git refuses leaves nothing', async () => {
    const before = git(clone, 'worktree', 'list')
    const words = ['git', 'worktree', 'add', clone, mount.path('none'), 'no-such-rev']
    const { code, stderr } = await site.tryCairn(words, mount.home)
    expect([code === 0, stderr]).toEqual([false, expect.stringContaining('no-such-rev')])
    expect(existsSync(mount.path('none'))).toBe(false)
    expect(git(clone, 'worktree', 'list')).toBe(before)
  })

  it('status tells what a clone is, and whether git asks the mount', async () => {
    const state = async (path: string, ...options: string[]): Promise<unknown> =>
      JSON.parse(await cairn('status', '--json', ...options, path)) as unknown
    const head = { branch: 'main', commit: git(clone, 'rev-parse', 'HEAD').trim() }
    const whole = { history: 'whole', content: 'whole', isSparse: false }
    const hydration = { state: 'done', missing: 0 }
    await expect
      .poll(() => state(join(clone, 'a')), { timeout: 30_000 })
      .toEqual({
        path: clone,
        origin,
        ...head,
        ...whole,
        hydration,
        fsmonitor: 'working',
        todo: [],
      })
    const plain = join(site.directory, 'plain')
    expect(await state(plain)).toMatchObject({
      fsmonitor: 'unset',
      todo: [expect.stringContaining(`--set-fsmonitor ${plain}`)],
    })
    expect(await state(plain, '--set-fsmonitor')).toMatchObject({ fsmonitor: 'elsewhere' })
    git(plain, 'remote', 'set-url', 'origin', 'https://me:secret@example.org/r')
    expect(await state(plain)).toMatchObject({ origin: 'https://example.org/r' })
    expect(await cairn('status', clone)).toContain('working: git status looks at what changed')
    const { code, stderr } = await site.tryCairn(['git', 'status', site.directory], mount.home)
    expect([code, stderr]).toEqual([2, expect.stringContaining('git finds no working tree there')])
  })
})
