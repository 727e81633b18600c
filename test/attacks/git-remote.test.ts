// The git remote: what an owner of one workspace pushes, and what a token leaves for the next export.
import { createHash } from 'node:crypto'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deflateSync } from 'node:zlib'
import type { Workspace } from '@cairn/sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../e2e/start-server.ts'

const run = promisify(execFile)
const env = {
  ...process.env,
  GIT_TERMINAL_PROMPT: '0',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'n',
  GIT_AUTHOR_EMAIL: 'e@example.org',
  GIT_COMMITTER_NAME: 'n',
  GIT_COMMITTER_EMAIL: 'e@example.org',
}

describe('the git remote', { timeout: 120_000 }, () => {
  let server: TestServer
  let workspace: Workspace
  let local: string
  let path: string
  let count = 0

  const git = async (...args: string[]): Promise<string> =>
    (await run('git', args, { cwd: path, env })).stdout.trim()
  const url = (): string =>
    `${server.url.replace('://', `://me:${server.apiKey}@`)}/git/${workspace.name}`
  /** The id of an object that git itself would not make. */
  const make = (type: string, content: string | Buffer): string => {
    const args = ['hash-object', '-w', '--literally', '-t', type, '--stdin']
    const { stdout, stderr } = spawnSync('git', args, { cwd: path, env, input: content })
    expect(stderr.toString()).toBe('')
    return stdout.toString().trim()
  }
  const treeOf = (
    entries: readonly (readonly [mode: string, name: string, oid: string])[],
  ): string =>
    make(
      'tree',
      Buffer.concat(
        entries.map(([mode, name, oid]) =>
          Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]),
        ),
      ),
    )
  const commitOf = (tree: string): Promise<string> =>
    git('commit-tree', tree, '-p', 'HEAD', '-m', 'Forged')
  /** What git says of a push that is refused. */
  const refused = (...refs: string[]): Promise<string> =>
    git('push', 'origin', ...refs).then(
      () => 'it was taken',
      (error: Error) => error.message,
    )
  const layers = async (): Promise<readonly string[]> => {
    const names: string[] = []
    for await (const { name, id } of workspace.layers.list()) names.push(name ?? id)
    return names
  }

  beforeAll(async () => {
    server = await startServer()
    local = mkdtempSync(join(tmpdir(), 'cairn-git-attack-'))
  }, 60_000)
  afterAll(async () => {
    await server.stop()
    rmSync(local, { recursive: true })
  })
  beforeEach(async () => {
    await server.cairn.workspaces.create(`w${count}`)
    workspace = server.cairn.workspace(`w${count}`)
    await workspace.files.write('/a', 'one')
    path = join(local, `clone${count++}`)
    await run('git', ['clone', '-q', url(), path], { cwd: local, env })
  })

  it('a few kilobytes that unpack to ten thousand million files: refused', async () => {
    let tree = treeOf([['100644', 'f', make('blob', 'x')]])
    for (let level = 0; level < 10; level++)
      tree = treeOf(Array.from({ length: 10 }, (_, at) => ['40000', `d${at}`, tree] as const))
    const said = await refused(`${await commitOf(tree)}:refs/heads/attempts/bomb`)
    expect(said).toMatch(/changes more than|too much memory/)
    expect(await layers()).toEqual([])
  })

  it('a link whose target has megabytes: refused before it is in memory', async () => {
    const target = make('blob', Buffer.alloc(30_000_000, 'x'))
    const commit = await commitOf(treeOf([['120000', 'link', target]]))
    expect(await refused(`${commit}:refs/heads/attempts/link`)).toMatch(/target|objects were not/)
    expect(await layers()).toEqual([])
  })

  it('a tree with names such as .. and .git: refused', async () => {
    const inner = treeOf([['100644', 'f', make('blob', 'x')]])
    for (const name of ['..', '.', '.git', '.GIT', 'a/b', 'git~1']) {
      const commit = await commitOf(treeOf([['40000', name, inner]]))
      expect(await refused(`${commit}:refs/heads/attempts/name`), name).toContain('unpack failed')
    }
    expect(await layers()).toEqual([])
  })

  it('deltas of some hundred bytes that unpack to gigabytes: refused, in bounded memory', async () => {
    const size = 16 << 20
    const number = (value: number, first: number): number[] => {
      const bytes: number[] = []
      let rest = Math.floor(value / first)
      for (; rest > 0; rest = Math.floor(rest / 128))
        bytes.push((rest % 128) | (rest >= 128 ? 0x80 : 0))
      return bytes
    }
    const header = (type: number, length: number): Buffer => {
      const rest = number(length, 16)
      return Buffer.from([(type << 4) | (length % 16) | (rest.length > 0 ? 0x80 : 0), ...rest])
    }
    const base = Buffer.alloc(size - 1)
    // Copies all of the base, 512 times: 8 GiB.
    const copies = Array.from({ length: 512 }, () => [0xf0, 0xff, 0xff, 0xff]).flat()
    const delta = Buffer.from([...number(size - 1, 1), ...number((size - 1) * 512, 1), ...copies])
    const id = createHash('sha1')
      .update(`blob ${size - 1}\0`)
      .update(base)
      .digest()
    const objects = Buffer.concat([
      header(3, base.length),
      deflateSync(base),
      header(7, delta.length),
      id,
      deflateSync(delta),
    ])
    const pack = Buffer.concat([Buffer.from('PACK\0\0\0\x02\0\0\0\x02'), objects])
    const line = `${'0'.repeat(40)} ${'1'.repeat(40)} refs/heads/attempts/delta\0report-status\n`
    const length = (line.length + 4).toString(16).padStart(4, '0')
    const answer = await fetch(`${server.url}/git/${workspace.name}/git-receive-pack`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.apiKey}` },
      body: Buffer.concat([
        Buffer.from(`${length}${line}0000`),
        pack,
        createHash('sha1').update(pack).digest(),
      ]),
    })
    expect(await answer.text()).toMatch(/memory/i)
  })

  it('refs with odd names, spoken by hand: refused, and no layer is made', async () => {
    await git('commit', '-q', '--allow-empty', '-m', 'Empty')
    const pack = spawnSync('git', ['pack-objects', '--stdout', '--revs'], {
      cwd: path,
      env,
      input: 'HEAD\n^HEAD^\n',
    }).stdout
    const oid = await git('rev-parse', 'HEAD')
    const names = ['../../x', 'a/b', 'x.lock', '-q', 'a..b', 'x\u0001y', 'é', 'x'.repeat(300), '@{']
    for (const name of names) {
      const line = Buffer.from(
        `${'0'.repeat(40)} ${oid} refs/heads/attempts/${name}\0report-status\n`,
      )
      const length = (line.length + 4).toString(16).padStart(4, '0')
      const answer = await fetch(`${server.url}/git/${workspace.name}/git-receive-pack`, {
        method: 'POST',
        headers: { authorization: `Bearer ${server.apiKey}` },
        body: Buffer.concat([Buffer.from(length), line, Buffer.from('0000'), pack]),
      })
      expect(await answer.text(), name).toContain('ng refs/heads/attempts/')
    }
    expect(await layers()).toEqual([])
  })

  it('more refs than a push may have, or lines without an end: refused', async () => {
    const line = `${'0'.repeat(40)} ${'1'.repeat(40)} refs/heads/attempts/${'x'.repeat(60_000)}\n`
    const length = (line.length + 4).toString(16).padStart(4, '0')
    const answer = await fetch(`${server.url}/git/${workspace.name}/git-receive-pack`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.apiKey}` },
      body: `${length}${line}`.repeat(1000),
    })
    expect(answer.status).toBe(400)
  })

  it('a byte behind a hole of 16 TiB, written by a token: left out, and the export ends', async () => {
    const { secret } = await workspace.tokens.issue('writer', {
      ttlMs: 60_000,
      allow: [{ path: '/', operations: ['read', 'list', 'write'] }],
    })
    const last = 2 ** 44 - 1
    await workspace.files.write('/vast', 'x')
    const answer = await fetch(`${server.url}/v1/workspaces/${workspace.name}/files/vast`, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${secret}`,
        'content-range': `bytes ${last}-${last}/*`,
      },
      body: 'x',
    })
    expect(answer.status).toBe(200)
    await workspace.files.write('/a', 'two')
    await git('fetch', '-q')
    expect(await git('ls-tree', '--name-only', 'origin/main')).toBe('a')
  })

  it('labels and names that git takes for paths do not stop the export', async () => {
    const label = (text: string, layer = 'main'): Promise<unknown> =>
      workspace.layers.checkpoint(layer, { label: text })
    await workspace.layers.create('/', { name: 'fix' })
    await workspace.layers.create('/', { name: 'x.lock.lock' })
    await workspace.layers.create('/', { name: 'end.' })
    await label('one', 'fix')
    const odd = [
      'fix',
      'a',
      'a/b',
      'a.lock/b',
      'x.lock.lock',
      '@{',
      '-q',
      'é'.repeat(250),
      '..',
      '/',
      'a//b/',
    ]
    for (const text of odd) await label(text)
    await workspace.files.write('/a', 'two')
    await git('fetch', '-q', '--tags')
    expect(await git('show', 'origin/main:a')).toBe('two')
    const tags = (await git('tag', '-l')).split('\n')
    expect(tags).toHaveLength(odd.length + 1)
  })

  it('a message that says which tree a commit is: not believed', async () => {
    const { layers: of } = workspace
    const { id } = await of.create('/', { name: 'sly' })
    await of.checkpoint(id, { label: 'before' })
    const { files } = server.cairn.workspace(workspace.name, { layer: id })
    await files.write('/evil', 'evil')
    const { root } = await of.checkpoint(id, { label: 'after' })
    await of.rollback(id, { to: 'before' })
    // What the next export shows as harmless claims to be that tree.
    const claim = `Cairn-Root: ${root.replace('sha256:', '')}\nCairn-Seq: 1\nCairn-Actor: me\n`
    await of.update(id, { message: `Nothing to see\n\n${claim}` })
    await files.write('/harmless', 'harmless')
    await git('fetch', '-q')
    await of.rollback(id, { to: 'after' })
    await git('fetch', '-q')
    expect(await git('ls-tree', '--name-only', 'origin/attempts/sly')).toBe('a\nevil')
  })

  it('more clones at once than it has places for: told to come again', async () => {
    const ask = (): Promise<number> =>
      fetch(`${server.url}/git/${workspace.name}/info/refs?service=git-upload-pack`, {
        headers: { authorization: `Bearer ${server.apiKey}` },
      }).then(async (answer) => {
        await answer.text()
        return answer.status
      })
    const statuses = await Promise.all(Array.from({ length: 40 }, ask))
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    expect(await ask()).toBe(200)
  })
})
