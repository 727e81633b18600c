// The hook of git's fsmonitor in a clone: a status that trusts it, beside one that looks at every file.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Cairn, type Workspace } from '@cairn/sdk'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'
import { git, randomEdit } from './random/edits.ts'
import { playSeed, seedsOf } from './random/seeds.ts'
import { Random } from './random/step.ts'

const steps = 60

function statusOf(repository: string, ...options: string[]): readonly string[] {
  const words = ['-c', 'safe.directory=*', ...options, 'status', '--porcelain', '-uall']
  const { stdout, stderr } = spawnSync('git', words, { cwd: repository, encoding: 'utf8' })
  return [stdout, stderr]
}

/** What git says, and what it says when it looks at every file, are the same. */
function expectTrue(repository: string, what: string): void {
  const plain = ['-c', 'core.fsmonitor=false', '-c', 'core.untrackedCache=false']
  // It writes no index, so the status that trusts the hook gains nothing.
  const full = statusOf(repository, '--no-optional-locks', ...plain)
  expect(statusOf(repository), what).toEqual(full)
}

/** What the hook answers to a token. */
function ask(repository: string, token = ''): { readonly token: string; readonly paths: string[] } {
  const hook = git(repository, 'config', 'core.fsmonitor').trim()
  const words = ['-c', `${hook} "$@"`, 'hook', '2', token]
  const output = execFileSync('sh', words, { cwd: repository, encoding: 'utf8' })
  const [next = '', ...paths] = output.split('\0').slice(0, -1)
  return { token: next, paths }
}

/** The hook knows nothing of the moments before it began, and tells the newest changes twice. */
async function whenQuiet(repository: string): Promise<string> {
  let { token } = ask(repository)
  await expect
    .poll(
      () => {
        const answer = ask(repository, token)
        token = answer.token
        return answer.paths
      },
      { timeout: 30_000, interval: 200 },
    )
    .toEqual([])
  return token
}

function makeOrigin(site: Site): string {
  const path = join(site.directory, 'origin')
  git(site.directory, 'init', '-q', '-b', 'main', path)
  for (const directory of ['a', 'a/b', 'c', 'with space']) {
    mkdirSync(join(path, directory), { recursive: true })
    for (const file of ['1', '2', '3'])
      writeFileSync(join(path, directory, file), `${directory} ${file}\n`)
  }
  git(path, 'add', '-A')
  git(path, 'commit', '-q', '-m', 'first')
  git(path, 'tag', 'v1')
  git(path, 'mv', 'a/b', 'c/moved')
  writeFileSync(join(path, 'c/1'), 'changed\n')
  git(path, 'commit', '-q', '-a', '-m', 'second')
  return path
}

describe.skipIf(noMount)('the fsmonitor of a clone', () => {
  let site: Site
  let origin: string
  let workspace: Workspace
  let mount: SiteMount
  let clone: string
  const others: SiteMount[] = []

  beforeAll(async () => {
    site = await Site.open()
    origin = makeOrigin(site)
  })
  afterAll(() => site.close())

  let count = 0
  beforeEach(async () => {
    const name = `w${count++}`
    const cairn = new Cairn({ server: site.url, apiKey: site.key })
    await cairn.workspaces.create(name)
    workspace = cairn.workspace(name)
    await workspace.files.write('/before', 'x')
    await workspace.layers.create('/', { name: 'attempt' })
    mount = await mountAt('--layer', 'attempt')
    clone = mount.path('repo')
    await site.cairn(['git', 'clone', '--fast', origin, clone], mount.home)
  })
  afterEach(async () => {
    for (const each of others.splice(0)) await each.unmount()
  })

  async function mountAt(...options: string[]): Promise<SiteMount> {
    const made = await site.mount('/', '-w', workspace.name, ...options)
    others.push(made)
    return made
  }

  it('reports exactly what changed', async () => {
    expect(ask(clone).paths).toEqual(['/'])
    expectTrue(clone, 'a fresh clone')
    const token = await whenQuiet(clone)
    expectTrue(clone, 'the first status with a token that will be known')
    expect(git(clone, 'ls-files', '-f')).not.toMatch(/^H/m)
    writeFileSync(join(clone, 'a/1'), 'edited\n')
    writeFileSync(mount.path('outside'), 'x')
    expect(ask(clone, token).paths).toEqual(['a/1'])
    await workspace.layer('attempt').files.write('/repo/c/new', 'x')
    expect(new Set(ask(clone, token).paths)).toEqual(new Set(['a/1', 'c/new', 'c/new/']))
    expectTrue(clone, 'two changes')
    expect(ask(clone, 'cairn:0123456789abcdef:1').paths).toEqual(['/'])
  })

  for (const seed of seedsOf('git fsmonitor'))
    it(`no change is hidden by random edits (seed ${seed})`, () =>
      playSeed('git fsmonitor', seed, async () => {
        const random = new Random(seed)
        const done: string[] = []
        await whenQuiet(clone)
        for (let step = 0; step < steps; step++) {
          for (let edits = 1 + random.below(3); edits > 0; edits--)
            done.push(randomEdit(clone, random))
          if (random.below(4) > 0) expectTrue(clone, done.join('\n'))
        }
        expectTrue(clone, done.join('\n'))
      }))

  it('no change is hidden that other clients make', async () => {
    const attempt = workspace.layer('attempt')
    await workspace.layers.checkpoint('attempt', { label: 'cloned' })
    expectTrue(clone, 'a fresh clone')
    await whenQuiet(clone)
    await attempt.files.write('/repo/a/1', 'XY\n')
    expectTrue(clone, 'a write through HTTP')
    await attempt.files.move('/repo/c', '/repo/e')
    expectTrue(clone, 'a rename through HTTP')
    await whenQuiet(clone)
    expectTrue(clone, 'nothing')
    await workspace.layers.rollback('attempt', { to: 'cloned' })
    expectTrue(clone, 'a rollback')
    expect(git(clone, 'status', '--porcelain')).toBe('')
    await workspace.layers.create('/repo', { name: 'inner', parent: 'attempt' })
    await workspace.layer('inner').files.write('/repo/c/2', 'of a layer\n')
    await workspace.layers.commit('inner')
    expectTrue(clone, 'a commit of a layer')
    expect(git(clone, 'status', '--porcelain')).toBe(' M c/2\n')
    await workspace.files.write('/repo/from-main', 'x')
    await workspace.layers.rebase('attempt')
    expectTrue(clone, 'a rebase')
    expect(git(clone, 'status', '--porcelain')).toBe(' M c/2\n?? from-main\n')
  })

  it('no change is hidden that another mount makes, and that one has a hook, too', async () => {
    const other = await mountAt('--layer', 'attempt')
    const there = other.path('repo')
    expectTrue(clone, 'a fresh clone')
    await whenQuiet(clone)
    const random = new Random(1)
    for (let step = 0; step < 12; step++) {
      const [changed, seen] = step % 2 === 0 ? [there, clone] : [clone, there]
      const done = randomEdit(changed, random)
      expectTrue(seen, `${done}, seen by the other`)
      expectTrue(changed, done)
    }
  })

  it('after the daemon was replaced, outside of a mount and in a linked worktree', async () => {
    mkdirSync(join(clone, '.cairn/todo'), { recursive: true })
    await whenQuiet(clone)
    expectTrue(clone, 'a fresh clone')
    git(clone, 'worktree', 'add', '-q', '../tree', 'v1')
    const tree = mount.path('tree')
    writeFileSync(join(tree, 'a/b/1'), 'of the worktree\n')
    expectTrue(tree, 'a worktree')
    writeFileSync(join(clone, 'a/1'), 'XYZ\n')
    process.kill((await mount.status()).pid, 'SIGKILL')
    expectTrue(clone, 'another daemon')
    expectTrue(tree, 'a worktree, another daemon')
    const copy = join(site.directory, `copy-${workspace.name}`)
    await site.cairn(['fs', 'cp', '-r', '--layer', 'attempt', '-w', workspace.name, ':/repo', copy])
    expectTrue(copy, 'a copy')
    writeFileSync(join(copy, 'a/2'), 'XYZ\n')
    expectTrue(copy, 'a changed copy')
    expect(git(copy, 'status', '--porcelain')).toBe(' M a/1\n M a/2\n')
  })
})
