// What cairn git hydrate and cairn git status do in a mount.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GitHost } from '../e2e/git-host.ts'
import { noMount, Site, type SiteMount } from './fixture.ts'
import { git } from './random/edits.ts'

function makeOrigin(path: string): void {
  mkdirSync(path)
  git(path, 'init', '-q', '-b', 'main')
  for (const setting of ['uploadpack.allowFilter', 'uploadpack.allowAnySHA1InWant'])
    git(path, 'config', setting, 'true')
  for (const version of ['one', 'two', 'three']) {
    writeFileSync(join(path, 'file'), `${version}\n`)
    git(path, 'add', '-A')
    git(path, 'commit', '-q', '-m', version)
    git(path, 'tag', version)
  }
}

describe.skipIf(noMount)('a partial clone in a mount', () => {
  let site: Site
  let origin: string
  let mount: SiteMount
  let clone: string

  beforeAll(async () => {
    site = await Site.open()
    origin = join(site.directory, 'origin')
    makeOrigin(origin)
    mount = await site.mount('/')
    clone = mount.path('repo')
    await cairn('clone', '--fast', '--blobless', '--hydrate=off', `file://${origin}`, clone)
  })
  afterAll(() => site.close())

  const cairn = async (...words: string[]): Promise<string> =>
    (await site.cairn(['git', ...words], mount.home)).stdout
  const hydration = async (): Promise<unknown> =>
    (JSON.parse(await cairn('status', '--json', clone)) as { hydration: unknown }).hydration

  it('tells how many objects are missing, and what to type', async () => {
    expect(await hydration()).toEqual({ state: 'off', missing: 2 })
    expect(await cairn('status', clone)).toMatch(
      /hydration +off: 2 objects are missing[^]*To fetch what is missing: cairn git hydrate /,
    )
  })

  it('names the origin and the reason in .cairn/errors when the origin is gone', async () => {
    renameSync(origin, `${origin}-gone`)
    const { stderr, code } = await site.tryCairn(['git', 'hydrate', clone], mount.home)
    expect(code).not.toBe(0)
    const words = `cannot fetch what /repo/.git lacks from file://${origin}`
    expect(stderr).toContain(words)
    expect(readFileSync(mount.path('.cairn/errors'), 'utf8')).toContain(words)
    const reason = expect.stringContaining('does not') as string
    await expect.poll(hydration).toMatchObject({ state: 'failed', missing: 2, reason })
    // Git itself fails in its own words, and what is there can be read.
    expect(git(clone, 'show', 'HEAD:file')).toBe('three\n')
    expect(() => git(clone, 'show', 'one:file')).toThrow('could not fetch')
  })

  it('a partial clone in a mount is a whole one in every mount, without its origin, after it was hydrated from a worktree', async () => {
    renameSync(`${origin}-gone`, origin)
    git(clone, 'worktree', 'add', '-q', '../other')
    const words = ['hydrate', '--background', mount.path('other')]
    expect(await cairn(...words)).toContain('in the background')
    await expect.poll(hydration, { timeout: 30_000 }).toEqual({ state: 'done', missing: 0 })
    renameSync(origin, `${origin}-gone`)
    const second = await site.mount('/')
    for (const at of [mount, second]) {
      expect(git(at.path('repo'), 'show', 'one:file', 'two:file')).toBe('one\ntwo\n')
      expect(git(at.path('repo'), 'fsck', '--full', '--strict')).toBe('')
    }
    expect(await cairn('status', clone)).toContain('all content')
  })

  it('a directory of no repository is refused', async () => {
    const { stderr, code } = await site.tryCairn(['git', 'hydrate', mount.directory], mount.home)
    expect([code, stderr]).toEqual([2, expect.stringContaining('git finds no working tree there')])
  })
})

/** Work that needs no older content, as one would do it meanwhile. */
function work(repository: string): void {
  git(repository, 'checkout', '-q', '-b', 'topic')
  writeFileSync(join(repository, 'file'), 'topic\n')
  git(repository, 'stash')
  writeFileSync(join(repository, 'other'), 'other\n')
  git(repository, 'add', '-A')
  git(repository, 'commit', '-q', '-m', 'other')
  git(repository, 'stash', 'pop')
  git(repository, 'commit', '-q', '-a', '-m', 'topic')
  git(repository, 'checkout', '-q', 'main')
  writeFileSync(join(repository, 'third'), 'third\n')
  git(repository, 'add', '-A')
  git(repository, 'commit', '-q', '-m', 'third')
  git(repository, 'rebase', '-q', 'main', 'topic')
  git(repository, 'mv', 'other', 'moved')
  git(repository, 'gc', '-q')
}

it.skipIf(noMount)(
  'git answers as in a plain clone while objects arrive and after they stopped',
  async () => {
    const site = await Site.open()
    const host = await GitHost.open(site.directory)
    try {
      const origin = join(site.directory, 'origin')
      makeOrigin(origin)
      const mount = await site.mount('/')
      const [clone, plain] = [mount.path('repo'), join(site.directory, 'plain')]
      const url = `${host.url}/origin/.git`
      const cairn = (...words: string[]): Promise<unknown> =>
        site.cairn(['git', ...words], mount.home)
      await cairn('clone', '--fast', '--blobless', '--hydrate=off', url, clone)
      const ofClone = host.requests
      host.fate = () => 'unanswered'
      await cairn('hydrate', '--background', clone)
      await expect.poll(() => host.requests).toBeGreaterThan(ofClone)
      git(site.directory, 'clone', '-q', `file://${origin}`, plain)
      for (const repository of [clone, plain]) work(repository)
      host.fate = () => 'refused'
      host.cut()
      const errors = (): string => readFileSync(mount.path('.cairn/errors'), 'utf8')
      await expect.poll(errors, { timeout: 30_000 }).toContain(`lacks from ${url}`)
      host.fate = () => 'answered'
      await cairn('hydrate', clone)
      renameSync(origin, `${origin}-gone`)
      for (const question of [
        // Not --all: commits of one second have no order.
        ['log', '-p', '--format=%T %s', 'topic'],
        ['rev-parse', 'main^{tree}', 'origin/main', 'one', 'two'],
        ['status', '--porcelain', '-b'],
        ['diff', 'HEAD'],
        ['ls-files', '-s'],
        ['fsck', '--full', '--strict', '--no-dangling'],
      ])
        expect(git(clone, ...question), question.join(' ')).toBe(git(plain, ...question))
    } finally {
      await host.close()
      await site.close()
    }
  },
)
