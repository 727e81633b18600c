// A workspace as a git remote, asked by git itself.
import { execFile } from 'node:child_process'
import { lstatSync, mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Workspace } from '@cairn/sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from './start-server.ts'

const run = promisify(execFile)
let server: TestServer
let workspace: Workspace
let local: string
let count = 0

beforeAll(async () => {
  server = await startServer()
  local = mkdtempSync(join(tmpdir(), 'cairn-git-remote-'))
})

afterAll(async () => {
  await server.stop()
  rmSync(local, { recursive: true })
})

beforeEach(async () => {
  await server.cairn.workspaces.create(`w${count}`)
  workspace = server.cairn.workspace(`w${count++}`)
})

/** In this process is the server, so nothing here may wait without letting it work. */
async function git(cwd: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, GIT_TERMINAL_PROMPT: '0', GIT_CONFIG_GLOBAL: '/dev/null' }
  return (await run('git', args, { cwd, env })).stdout
}

const urlOf = (name: string, secret = server.apiKey): string =>
  `${server.url.replace('://', `://me:${secret}@`)}/git/${name}`

async function clone(): Promise<string> {
  const path = join(local, `clone${count}`)
  await git(local, 'clone', '-q', urlOf(workspace.name), path)
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
    count++
    const path = await clone()
    const { stdout } = await run(
      'git',
      ['-c', 'user.name=n', '-c', 'user.email=e', 'merge', '-q', '-m', 'm', 'origin/attempts/old'],
      { cwd: path },
    )
    expect(stdout).toBe('')
    expect(await git(path, 'ls-files')).toBe('repo/a\nrepo/b\nrepo/c\nrepo/d\n')
  })

  it('without a key, with a wrong one or with a token there is nothing', async () => {
    const { secret } = await workspace.tokens.issue('t', {
      ttlMs: 60_000,
      allow: [{ path: '/', operations: ['read', 'list'] }],
    })
    for (const url of [
      `${server.url}/git/${workspace.name}`,
      urlOf(workspace.name, 'wrong-key-0'),
      urlOf(workspace.name, secret),
    ])
      await expect(git(local, 'ls-remote', url)).rejects.toThrow('git ls-remote')
    expect(await git(local, 'ls-remote', urlOf(workspace.name))).toContain('refs/heads/main')
  })

  it('a push is refused, in words', async () => {
    const path = await clone()
    await git(
      path,
      '-c',
      'user.name=n',
      '-c',
      'user.email=e',
      'commit',
      '-q',
      '--allow-empty',
      '-m',
      'x',
    )
    await expect(git(path, 'push', '-q')).rejects.toThrow('403')
  })
})
