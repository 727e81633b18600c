// A workspace as a git remote, asked by git itself.
import { execFile } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Workspace } from '@cairn/sdk'
import { beforeEach, describe, expect, it } from 'vitest'
import { git } from './run-git.ts'
import { useDirectory } from './use-directory.ts'
import { useServer } from './use-server.ts'

const run = promisify(execFile)
const server = useServer()
let workspace: Workspace
const local = useDirectory()

beforeEach(async () => {
  workspace = await server.enter()
})

const urlOf = (name: string, secret = server.apiKey): string =>
  `${server.url.replace('://', `://me:${secret}@`)}/git/${name}`

async function clone(name = workspace.name): Promise<string> {
  const path = join(local.path, name)
  await git(local.path, 'clone', '-q', urlOf(workspace.name), path)
  return path
}

describe('a workspace is a git remote', () => {
  it('files, modes, symlinks and odd names are in the clone; git finds nothing wrong', async () => {
    const { files } = workspace
    await files.write('/a.txt', 'hello\n')
    await files.write('/deep/run.sh', '#!/bin/sh\n', { mode: 0o755 })
    await files.write('/deep/big', Buffer.alloc(900_000, 'xyz'))
    await files.write('/quote "\\ and\nline', 'odd')
    await files.write(Buffer.from([0x2f, 0xff, 0x2e]), 'bytes')
    await files.write('/empty', '')
    await files.symlink('deep/run.sh', '/link')
    await files.mkdir('/nothing-in-it')
    await files.write('/inner/.git/config', 'a repository of its own')
    const path = await clone()
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('hello\n')
    expect(readFileSync(join(path, 'deep/big'))).toHaveLength(900_000)
    expect(readFileSync(join(path, 'quote "\\ and\nline'), 'utf8')).toBe('odd')
    expect(lstatSync(join(path, 'deep/run.sh')).mode & 0o111).toBe(0o111)
    expect(readlinkSync(join(path, 'link'))).toBe('deep/run.sh')
    expect((await git(path, 'ls-files', '-z')).split('\0')).toHaveLength(8)
    expect(await git(path, 'status', '--porcelain')).toBe('')
    expect(await git(path, 'fsck', '--full', '--strict')).toBe('')
    expect(await git(path, 'log', '-1', '--format=%B')).toMatch(
      /Cairn-Root: [0-9a-f]{64}\nCairn-Seq: \d+\n/,
    )
  })

  it('a fetch brings what is new, on top of what was there; nothing new is no commit', async () => {
    await workspace.files.write('/a', '1')
    const path = await clone()
    const first = await git(path, 'rev-parse', 'HEAD')
    await git(path, 'fetch', '-q')
    expect(await git(path, 'rev-parse', 'origin/main')).toBe(first)
    await workspace.files.write('/a', '2')
    await git(path, 'pull', '-q', '--ff-only')
    expect(readFileSync(join(path, 'a'), 'utf8')).toBe('2')
    expect(await git(path, 'rev-parse', 'HEAD^')).toBe(first)
  })

  it('attempts are branches, checkpoints tags, and a commit of a layer is a merge', async () => {
    await workspace.files.write('/repo/a', '1')
    const layer = await workspace.layers.create('/repo', { name: 'fix-one' })
    await server.cairn.workspace(workspace.name, { layer: layer.id }).files.write('/repo/b', 'new')
    await workspace.layers.checkpoint(layer.id, { label: 'tests-pass' })
    const path = await clone()
    expect(await git(path, 'show', 'origin/attempts/fix-one:repo/b')).toBe('new')
    expect(await git(path, 'show', 'cp/fix-one/tests-pass:repo/b')).toBe('new')
    expect(await git(path, 'diff', '--name-only', 'origin/main...origin/attempts/fix-one')).toBe(
      'repo/b\n',
    )
    await workspace.layers.commit(layer.id, { message: 'Fix it' })
    await git(path, 'pull', '-q', '--ff-only')
    expect(await git(path, 'log', '-1', '--format=%s')).toBe('Fix it\n')
    expect((await git(path, 'rev-parse', 'HEAD^2')).trim()).toBe(
      (await git(path, 'rev-parse', 'origin/attempts/fix-one')).trim(),
    )
    expect(readFileSync(join(path, 'repo/b'), 'utf8')).toBe('new')
    expect(await git(path, 'fsck', '--full', '--strict')).toBe('')
  })

  it('an attempt does not seem to take back what others did since', async () => {
    await workspace.files.write('/repo/a', '1')
    await clone()
    await workspace.files.write('/repo/b', 'before the attempt')
    const layer = await workspace.layers.create('/repo', { name: 'old' })
    await server.cairn.workspace(workspace.name, { layer: layer.id }).files.write('/repo/c', 'new')
    await workspace.files.write('/repo/d', 'after it')
    const path = await clone('later')
    const { stdout } = await run(
      'git',
      ['-c', 'user.name=n', '-c', 'user.email=e', 'merge', '-q', '-m', 'm', 'origin/attempts/old'],
      { cwd: path },
    )
    expect(stdout).toBe('')
    expect(await git(path, 'ls-files')).toBe('repo/a\nrepo/b\nrepo/c\nrepo/d\n')
  })

  it('a git remote shows nothing without a key or with a wrong one', async () => {
    for (const url of [`${server.url}/git/${workspace.name}`, urlOf(workspace.name, 'wrong-key-0')])
      await expect(git(local.path, 'ls-remote', url)).rejects.toThrow('git ls-remote')
    expect(await git(local.path, 'ls-remote', urlOf(workspace.name))).toContain('refs/heads/main')
  })

  it('git shows why it is refused, and what to do', async () => {
    const allow = [{ path: '/', operations: ['write'] as const }]
    const { secret } = await workspace.tokens.issue('t', { ttlMs: 60_000, allow })
    const asToken = git(local.path, 'ls-remote', urlOf(workspace.name, secret))
    await expect(asToken).rejects.toThrow(/the token allows read nowhere/)
    await expect(git(local.path, 'ls-remote', urlOf('no-such'))).rejects.toThrow(
      /remote: .*no-such/,
    )
    const { status, headers } = await fetch(`${server.url}/git/${workspace.name}/info/refs`, {
      headers: { authorization: `Bearer ${secret}` },
    })
    expect([status, headers.get('content-type')]).toEqual([403, expect.stringContaining('json')])
  })
})

describe('a push', () => {
  let path: string
  const identity = ['-c', 'user.name=n', '-c', 'user.email=e@example.org']
  const edit = async (change: (at: string) => void, message = 'Change it'): Promise<void> => {
    change(path)
    await git(path, 'add', '-A')
    await git(path, ...identity, 'commit', '-q', '-m', message)
  }
  const put = (name: string, text: string) => (at: string) => {
    mkdirSync(dirname(join(at, name)), { recursive: true })
    writeFileSync(join(at, name), text)
  }
  const layerNames = async (): Promise<readonly string[]> => {
    const names: string[] = []
    for await (const { name, state } of workspace.layers.list()) names.push(`${name} ${state}`)
    return names
  }
  const inLayer = (layer: string) => server.cairn.workspace(workspace.name, { layer }).files

  beforeEach(async () => {
    const { files } = workspace
    await files.write('/a.txt', 'one\n', { mode: 0o600 })
    await files.write('/dir/b.txt', 'b\n')
    await files.write('/dir/only/c.txt', 'c\n')
    await files.write('/run.sh', 'x\n')
    path = await clone()
  })

  it('becomes a layer: what was changed, added and removed; main stays as it is', async () => {
    await edit((at) => {
      put('a.txt', 'two\n')(at)
      put('new/deep/file', 'z'.repeat(600_000))(at)
      rmSync(join(at, 'dir/only'), { recursive: true })
      symlinkSync('a.txt', join(at, 'link'))
      chmodSync(join(at, 'run.sh'), 0o755)
    }, 'Do it all')
    const told = await run('git', ['push', 'origin', 'HEAD:attempts/mine'], { cwd: path })
    expect(told.stderr).toContain('layer mine is new; commit it with: cairn fs layer commit mine')
    const files = inLayer('mine')
    expect(await files.readText('/a.txt')).toBe('two\n')
    expect(await files.stat('/a.txt')).toMatchObject({ mode: '0600' })
    expect(await files.stat('/run.sh')).toMatchObject({ mode: '0755' })
    expect(await files.stat('/new/deep/file')).toMatchObject({ size: 600_000 })
    expect(await files.stat('/link', { follow: false })).toMatchObject({ target: 'a.txt' })
    expect(await files.exists('/dir/only')).toBe(false)
    expect(await files.exists('/dir/b.txt')).toBe(true)
    expect(await workspace.files.readText('/a.txt')).toBe('one\n')

    // The remote has the very commit, and others get it.
    await git(path, 'fetch', '-q')
    expect(await git(path, 'rev-parse', 'origin/attempts/mine')).toBe(
      await git(path, 'rev-parse', 'HEAD'),
    )
    await workspace.layers.commit('mine', { message: 'Take it' })
    await git(path, 'fetch', '-q')
    expect(await git(path, 'diff', 'HEAD', 'origin/main')).toBe('')
    expect(await git(path, 'rev-parse', 'origin/main^2')).toBe(await git(path, 'rev-parse', 'HEAD'))
    expect(await git(path, 'fsck', '--full', '--strict')).toBe('')
  })

  it('again goes into the same layer; one that is behind is refused', async () => {
    await edit(put('a.txt', 'two\n'))
    await git(path, 'push', '-q', 'origin', 'HEAD:attempts/mine')
    await edit(put('dir/b.txt', 'more\n'))
    await git(path, 'push', '-q', 'origin', 'HEAD:attempts/mine')
    expect(await inLayer('mine').readText('/dir/b.txt')).toBe('more\n')
    expect(await layerNames()).toContain('mine open')

    await inLayer('mine').write('/other', 'from another client')
    await edit(put('a.txt', 'three\n'))
    await expect(git(path, 'push', 'origin', 'HEAD:attempts/mine')).rejects.toThrow('fetch first')
    await git(path, ...identity, 'pull', '-q', '--rebase', 'origin', 'attempts/mine')
    await git(path, 'push', '-q', 'origin', 'HEAD:attempts/mine')
    expect(await inLayer('mine').readText('/a.txt')).toBe('three\n')
    expect(await inLayer('mine').readText('/other')).toBe('from another client')
  })

  it('from an older main stands on the newer one; a conflict names the path, and changes nothing', async () => {
    await workspace.files.write('/main.txt', 'later\n')
    await edit(put('a.txt', 'two\n'))
    await git(path, 'push', '-q', 'origin', 'HEAD:attempts/fits')
    expect(await inLayer('fits').readText('/main.txt')).toBe('later\n')
    expect(await inLayer('fits').readText('/a.txt')).toBe('two\n')

    await workspace.files.write('/a.txt', 'three\n')
    const push = ['push', 'origin', 'HEAD:attempts/late', 'HEAD:refs/heads/elsewhere']
    const said = await git(path, ...push).then(
      () => '',
      (error: Error) => error.message,
    )
    expect(said).toContain('attempts/late (conflict: a.txt)')
    expect(said).toContain('elsewhere (a push goes into a layer)')
    expect(said).toContain('remote: Fetch, rebase onto origin/main, and push again.')
    expect(await layerNames()).toEqual(['fits open'])
    expect(await git(local.path, 'ls-remote', urlOf(workspace.name))).not.toContain('late')
  })

  it('to main, of another history, or to delete is refused in words, each for itself', async () => {
    await edit(put('a.txt', 'two\n'))
    const push = git(path, 'push', 'origin', 'HEAD:main', 'HEAD:attempts/good')
    await expect(push).rejects.toThrow(/main \(a push goes into a layer\)/)
    expect(await inLayer('good').readText('/a.txt')).toBe('two\n')
    await expect(git(path, 'push', 'origin', ':attempts/good')).rejects.toThrow('deletes no layer')
    await git(path, 'checkout', '-q', '--orphan', 'other')
    await edit(put('x', 'x'))
    await expect(git(path, 'push', 'origin', 'HEAD:attempts/orphan')).rejects.toThrow(
      'history does not come from this workspace',
    )
    expect(await workspace.files.readText('/a.txt')).toBe('one\n')
  })

  it('a push of objects that are damaged makes nothing, and git is told', async () => {
    await edit(put('a.txt', 'two\n'))
    const oid = (await git(path, 'rev-parse', 'HEAD')).trim()
    const line = `${'0'.repeat(40)} ${oid} refs/heads/attempts/bad\0report-status\n`
    const length = (line.length + 4).toString(16).padStart(4, '0')
    const answer = await fetch(`${server.url}/git/${workspace.name}/git-receive-pack`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.apiKey}` },
      body: `${length}${line}0000PACK and then something else`,
    })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toMatch(
      /unpack git ended with [^]*ng refs\/heads\/attempts\/bad the objects were not taken/,
    )
    expect(await layerNames()).toEqual([])
  })
})
