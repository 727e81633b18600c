// What git shows the holder of a token, whose password it is.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Cairn, narrowToken, type Workspace } from '@cairn/sdk'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { git } from './run-git.ts'
import { useDirectory } from './use-directory.ts'
import { useServer } from './use-server.ts'

const runs = 5 * Number(process.env['CAIRN_RUNS'] ?? 1)
type Issue = Parameters<Workspace['tokens']['issue']>[1]
const server = useServer()
let workspace: Workspace
const local = useDirectory()
let count = 0

beforeEach(async () => {
  workspace = await server.enter()
  await workspace.files.write('/src/a.ts', 'a\n')
  await workspace.files.write('/src/deep/b.ts', 'b\n')
  await workspace.files.write('/secret/plan.txt', 'nothing that a token sees\n')
})

async function issue(options: Partial<Issue> = {}): Promise<string> {
  const allow = [{ path: '/src', operations: ['read', 'list'] as const }]
  const { secret } = await workspace.tokens.issue('t', { ttlMs: 60_000, allow, ...options })
  return secret
}

function urlOf(secret: string): string {
  return `${server.url.replace('://', `://me:${secret}@`)}/git/${workspace.name}`
}

async function clone(secret: string): Promise<string> {
  const path = join(local.path, `clone${++count}`)
  await git(local.path, 'clone', '-q', urlOf(secret), path)
  return path
}

async function filesIn(path: string): Promise<readonly string[]> {
  return (await git(path, 'ls-files', '-z')).split('\0').filter(Boolean)
}

describe('the git remote of a token', () => {
  it('the git remote of a token has the files that the token reads, and no object of another one', async () => {
    const path = await clone(await issue())
    expect(await filesIn(path)).toEqual(['src/a.ts', 'src/deep/b.ts'])
    const objects = await git(path, 'cat-file', '--batch-all-objects', '--batch')
    expect(objects).not.toMatch(/secret|plan|nothing that/)
    expect(await git(path, 'fsck', '--full', '--strict')).toBe('')
  })

  it('what is denied, or may be listed and not read, is not there', async () => {
    const allow = [
      { path: '/', operations: ['list'] as const },
      { path: '/src', operations: ['read'] as const },
    ]
    const path = await clone(await issue({ allow, deny: ['/src/deep'] }))
    expect(await filesIn(path)).toEqual(['src/a.ts'])
  })

  it('a change of a hidden file makes no commit; one that it sees makes one', async () => {
    const path = await clone(await issue())
    const first = await git(path, 'rev-parse', 'HEAD')
    await workspace.files.write('/secret/plan.txt', 'changed')
    await git(path, 'pull', '-q', '--ff-only')
    expect(await git(path, 'rev-parse', 'HEAD')).toBe(first)
    await workspace.files.write('/src/a.ts', 'a2\n')
    await git(path, 'pull', '-q', '--ff-only')
    expect(await git(path, 'rev-parse', 'HEAD^')).toBe(first)
    expect(readFileSync(join(path, 'src/a.ts'), 'utf8')).toBe('a2\n')
  })

  it('names the layers that the token sees, on top of what they stand on', async () => {
    const seen = await workspace.layers.create('/src', { name: 'seen' })
    await workspace.layers.create('/secret', { name: 'hidden' })
    const attempt = server.cairn.workspace(workspace.name, { layer: seen.id })
    await attempt.files.write('/src/new.ts', 'new\n')
    await workspace.files.write('/src/later.ts', 'later\n')
    const path = await clone(await issue())
    expect(await git(path, 'branch', '-r')).not.toContain('hidden')
    const changed = await git(path, 'diff', '--name-only', 'main...origin/attempts/seen')
    expect(changed).toBe('src/new.ts\n')
  })

  it('a clone with a token that is bound to a layer checks that layer out', async () => {
    const layer = await workspace.layers.create('/src', { name: 'mine' })
    const attempt = server.cairn.workspace(workspace.name, { layer: layer.id })
    await attempt.files.write('/src/new.ts', 'new\n')
    const path = await clone(await issue({ layer: layer.id }))
    expect(await git(path, 'branch', '-a', '--format=%(refname)')).not.toContain('main')
    expect(await filesIn(path)).toEqual(['src/a.ts', 'src/deep/b.ts', 'src/new.ts'])
  })

  it('tells neither who changed something nor which checkpoints hold more than it sees', async () => {
    const layer = await workspace.layers.create('/', { name: 'whole' })
    await workspace.layers.checkpoint(layer.id, { label: 'hidden-point' })
    const path = await clone(await issue())
    expect(await git(path, 'tag')).toBe('')
    expect(await git(path, 'log', '--all', '--format=%an %cn %B')).not.toMatch(/default|key_/)
  })

  it('ends with the token', async () => {
    const { secret, id } = await workspace.tokens.issue('t', {
      ttlMs: 60_000,
      allow: [{ path: '/', operations: ['read', 'list'] }],
    })
    const path = await clone(secret)
    await workspace.tokens.revoke(id)
    await expect(git(path, 'fetch')).rejects.toThrow('git fetch')
  })

  it('a token that was narrowed in many ways keeps four repositories', async () => {
    const secret = await issue()
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f'])
      await git(
        local.path,
        'ls-remote',
        urlOf(await narrowToken(secret, { deny: [`/src/${name}`] })),
      )
    const exports = join(server.data, 'git')
    const tokens = readdirSync(exports).filter((name) => name.endsWith('.tokens'))
    const kept = tokens.flatMap((name) =>
      readdirSync(join(exports, name)).map(
        (token) => readdirSync(join(exports, name, token)).length,
      ),
    )
    expect(Math.max(...kept)).toBe(4)
  })

  it('random grants: a clone has what the token reads over HTTP', async () => {
    const paths = ['/src', '/src/a.ts', '/src/deep', '/src/deep/b.ts', '/secret', '/']
    const operations = fc.subarray(['list', 'search', 'write']).map((others) => ['read', ...others])
    const rule = fc.record({ path: fc.constantFrom(...paths), operations })
    const grant = fc.record({
      allow: fc.array(rule, { minLength: 1, maxLength: 3 }),
      deny: fc.array(fc.constantFrom(...paths.slice(0, -1)), { maxLength: 2 }),
    })
    await fc.assert(
      fc.asyncProperty(grant, async ({ allow, deny }) => {
        const secret = await issue({ allow, deny } as Partial<Issue>)
        expect(await cloned(secret)).toEqual(await readable(secret))
      }),
      { numRuns: runs },
    )
  })
})

/** A token that reads nothing at all is refused. */
async function cloned(secret: string): Promise<readonly string[]> {
  try {
    return await filesIn(await clone(secret))
  } catch (error) {
    if (!String(error).includes('the token allows read nowhere')) throw error
    return []
  }
}

/** The files that the token lists and reads over HTTP. */
async function readable(secret: string): Promise<readonly string[]> {
  const { files } = new Cairn({ server: server.url, apiKey: secret }).workspace(workspace.name)
  const listed = await files.listPage('/', { recursive: true }).then(
    ({ items }) => items.filter(({ kind }) => kind === 'file').map(({ path }) => path),
    () => [],
  )
  const read = await Promise.all(
    listed.map((path) =>
      files.readText(path).then(
        () => [path.slice(1)],
        () => [],
      ),
    ),
  )
  return read.flat().sort()
}
