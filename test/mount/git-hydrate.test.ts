// What cairn git hydrate and cairn git status do in a mount.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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

  it('is a whole one in every mount, without its origin, after it was hydrated from a worktree', async () => {
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
