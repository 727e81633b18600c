// What the holder of a token may push, and what a refused push tells.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Cairn, type Workspace } from '@cairn/sdk'
import { beforeEach, describe, expect, it } from 'vitest'
import { git } from './run-git.ts'
import { useDirectory } from './use-directory.ts'
import { useServer } from './use-server.ts'

type Issue = Parameters<Workspace['tokens']['issue']>[1]
const all = ['read', 'list', 'write', 'delete'] as const
const identity = ['-c', 'user.name=n', '-c', 'user.email=n@example.org']
const server = useServer()
let workspace: Workspace
const local = useDirectory()
let count = 0

beforeEach(async () => {
  workspace = await server.enter()
  await workspace.files.write('/src/a.ts', 'a\n')
  await workspace.files.write('/src/deep/b.ts', 'b\n')
  await workspace.files.write('/docs/read.md', 'read\n')
  await workspace.files.write('/secret/plan.txt', 'nothing that a token sees\n')
})

async function issue(options: Partial<Issue> = {}): Promise<string> {
  const allow = [
    { path: '/src', operations: all },
    { path: '/docs', operations: ['read', 'list'] as const },
  ]
  const { secret } = await workspace.tokens.issue('t', { ttlMs: 60_000, allow, ...options })
  return secret
}

async function clone(secret: string): Promise<string> {
  const path = join(local.path, `clone${++count}`)
  const url = `${server.url.replace('://', `://me:${secret}@`)}/git/${workspace.name}`
  await git(local.path, 'clone', '-q', url, path)
  return path
}

async function commit(
  path: string,
  files: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    if (content === undefined) rmSync(join(path, name))
    else writeFileSync(join(path, name), content)
  }
  await git(path, 'add', '-A')
  await git(path, ...identity, 'commit', '-q', '-m', 'Change it')
}

/** What git says of a push that is refused. */
async function refusal(path: string, ...refs: string[]): Promise<string> {
  return git(path, 'push', 'origin', ...refs).then(
    () => 'it was taken',
    (error: Error) => error.message,
  )
}

function inLayer(name: string): Workspace['files'] {
  return server.cairn.workspace(workspace.name, { layer: name }).files
}

async function layers(): Promise<readonly { name?: string | undefined; path: string }[]> {
  const found = []
  for await (const { name, path } of workspace.layers.list({ state: 'open' }))
    found.push({ name, path })
  return found
}

describe('a push with a token', () => {
  it('makes a layer of what the token may write, and goes on in it', async () => {
    const path = await clone(await issue())
    await commit(path, { 'src/a.ts': 'a2\n', 'src/new/c.ts': 'c\n', 'src/deep/b.ts': undefined })
    await git(path, 'push', '-q', 'origin', 'HEAD:attempts/mine')
    expect(await layers()).toEqual([{ name: 'mine', path: '/src' }])
    const files = inLayer('mine')
    expect(await files.readText('/src/a.ts')).toBe('a2\n')
    expect(await files.readText('/src/new/c.ts')).toBe('c\n')
    expect(await files.exists('/src/deep')).toBe(false)
    expect(await files.readText('/secret/plan.txt')).toContain('nothing')

    await commit(path, { 'src/a.ts': 'a3\n' })
    await git(path, 'push', '-q', 'origin', 'HEAD:attempts/mine')
    expect(await files.readText('/src/a.ts')).toBe('a3\n')
    await git(path, 'fetch', '-q')
    expect(await git(path, 'rev-parse', 'origin/attempts/mine')).toBe(
      await git(path, 'rev-parse', 'HEAD'),
    )
    await workspace.layers.commit('mine', { message: 'Take it' })
    await git(path, 'fetch', '-q')
    expect(await git(path, 'diff', 'HEAD', 'origin/main')).toBe('')
  })

  it('stands on a main whose hidden files change meanwhile', async () => {
    const path = await clone(await issue())
    await workspace.files.write('/secret/plan.txt', 'later\n')
    await commit(path, { 'src/a.ts': 'a2\n' })
    await git(path, 'push', '-q', 'origin', 'HEAD:attempts/mine')
    expect(await inLayer('mine').readText('/secret/plan.txt')).toBe('later\n')
  })

  it('a push with a token is refused where the token may not write, each ref for itself, and leaves nothing', async () => {
    const path = await clone(await issue())
    await commit(path, { 'src/a.ts': 'a2\n' })
    await git(path, 'branch', 'good')
    await commit(path, { 'docs/read.md': 'mine\n' })
    const said = await refusal(path, 'good:attempts/good', 'HEAD:attempts/bad')
    expect(said).toMatch(/! \[remote rejected\] HEAD -> attempts\/bad \(the token must allow write/)
    expect(await layers()).toEqual([{ name: 'good', path: '/src' }])
    const again = await refusal(path, 'HEAD:attempts/good')
    expect(again).toContain('[remote rejected] HEAD -> attempts/good')
    expect(await layers()).toEqual([{ name: 'good', path: '/src' }])
    expect(await inLayer('good').readText('/docs/read.md')).toBe('read\n')
    expect(await workspace.files.readText('/src/a.ts')).toBe('a\n')
  })

  it('says the same of a hidden file and of one that is not there', async () => {
    const allow = [{ path: '/', operations: all }]
    const path = await clone(await issue({ allow, deny: ['/secret', '/none'] }))
    const told: string[] = []
    for (const name of ['secret/plan.txt', 'none/plan.txt']) {
      await git(path, 'checkout', '-q', '-B', 'try', 'origin/main')
      await commit(path, { [name]: 'mine\n', 'src/a.ts': 'a2\n' })
      const said = await refusal(path, 'HEAD:attempts/try')
      expect(said).toContain('[remote rejected]')
      told.push(said.replaceAll(/secret|none/g, 'NAME'))
    }
    expect(told[0]).toBe(told[1])
    expect(await layers()).toEqual([])
  })

  it('a push with a token of a token that is bound to a layer goes into that layer alone', async () => {
    const { id } = await workspace.layers.create('/src', { name: 'own' })
    await workspace.layers.create('/src', { name: 'other' })
    const path = await clone(await issue({ layer: id }))
    await commit(path, { 'src/a.ts': 'a2\n' })
    const said = await refusal(path, 'HEAD:attempts/other', 'HEAD:attempts/new')
    expect(said.match(/remote rejected/g)).toHaveLength(2)
    await git(path, 'push', '-q', 'origin', 'HEAD:attempts/own')
    expect(await inLayer('own').readText('/src/a.ts')).toBe('a2\n')
    expect(await inLayer('other').readText('/src/a.ts')).toBe('a\n')
    expect(new Set((await layers()).map(({ name }) => name))).toEqual(new Set(['other', 'own']))
  })

  it('ends where the budget of the token ends', async () => {
    const path = await clone(await issue({ maxBytes: 1000 }))
    await commit(path, { 'src/large': 'x'.repeat(2000) })
    expect(await refusal(path, 'HEAD:attempts/large')).toMatch(/remote rejected[^]*1000/)
    expect(await layers()).toEqual([])
  })

  it('takes the right to write somewhere', async () => {
    const allow = [{ path: '/src', operations: ['read', 'list'] as const }]
    const path = await clone(await issue({ allow }))
    await commit(path, { 'src/a.ts': 'a2\n' })
    expect(await refusal(path, 'HEAD:attempts/x')).toContain('the token allows write nowhere')
  })

  it('leaves what it does not see alone, whatever others see of it', async () => {
    const path = await clone(await issue())
    await commit(path, { 'src/a.ts': 'a2\n' })
    await git(path, 'push', '-q', 'origin', 'HEAD:attempts/mine')
    const owner = join(local.path, `owner${++count}`)
    const url = `${server.url.replace('://', `://me:${server.apiKey}@`)}/git/${workspace.name}`
    await git(local.path, 'clone', '-q', url, owner)
    expect(await git(owner, 'diff', '--name-only', 'origin/main', 'origin/attempts/mine')).toBe(
      'src/a.ts\n',
    )
    const { files } = new Cairn({ server: server.url, apiKey: server.apiKey }).workspace(
      workspace.name,
      { layer: 'mine' },
    )
    expect(await files.exists('/secret/plan.txt')).toBe(true)
  })
})
