// Every command, as a process, against a real server.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FileStat, LogEntry, Workspace } from '@cairn/sdk'
import { beforeEach, describe, expect, it } from 'vitest'
import { useCairn } from './run-cairn.ts'
import { useServer } from './use-server.ts'
import { keyFile } from '@cairn/server/testing/key-file'

const cairn = useCairn()
const server = useServer(cairn)

let workspace: Workspace
let files: Workspace['files']

beforeEach(async () => {
  workspace = await server.enter()
  files = workspace.files
})

describe('ws', () => {
  it('create, ls, rm', async () => {
    expect(await cairn.text('ws', 'create', 'site')).toBe(
      'made workspace site; use it with: cairn ctx use test --workspace site\n',
    )
    expect((await cairn.text('ws', 'ls')).split('\n')).toContain('site')
    expect((await cairn.json<{ name: string }>('ws', 'ls')).map(({ name }) => name)).toContain(
      'site',
    )
    expect(await cairn.error('ws', 'create', 'site')).toMatchObject({
      code: 'workspace_exists',
      exit: 5,
    })
    expect(await cairn.error('ws', 'rm', 'site')).toMatchObject({ code: 'usage', exit: 2 })
    expect(await cairn.text('ws', 'rm', 'site', '--yes')).toMatch(
      /^removed workspace site\nuntil \S+ you can bring it back: cairn ws restore ws_\S+\n$/,
    )
    await cairn.text('ws', 'create', 'named')
    const add = ['--server', server.url, '--api-key-file', keyFile(server.apiKey), '-w', 'named']
    await cairn.text('ctx', 'add', '--name', 'left', ...add)
    await server.cairn.workspaces.fork('named', 'fork')
    expect((await cairn.text('ws', 'rm', 'named', '--yes')).split('\n').slice(2)).toEqual([
      'its forks stay as they are: fork',
      'context left still names it: cairn ctx use left --workspace NAME, or cairn ctx rm left',
      '',
    ])
    expect(await cairn.error('ws', 'rm', 'site', '-y')).toMatchObject({
      code: 'workspace_missing',
      exit: 4,
    })
  })

  it('restore brings back what rm took, and rename takes the contexts along', async () => {
    await cairn.text('ws', 'create', 'shop')
    await server.cairn.workspace('shop').files.write('/a/b.txt', 'x')
    await cairn.text('ws', 'rm', 'shop', '--yes')
    expect(await cairn.text('ws', 'ls', '--deleted')).toMatch(
      /^shop +ws_\S+ +removed \S+ \S+ +goes \S+/m,
    )
    expect(await cairn.text('ws', 'restore', 'shop')).toBe(
      'restored workspace shop: 2 files and directories\n',
    )
    await cairn.text('ctx', 'use', 'test', '-w', 'shop')
    expect(await cairn.text('ws', 'rename', 'shop', 'store')).toBe(
      'renamed workspace shop to store\nchanged with it: context test\n',
    )
    expect(await cairn.text('fs', 'cat', ':/a/b.txt')).toBe('x')
    expect(await cairn.error('ws', 'restore', 'shop')).toMatchObject({ code: 'workspace_missing' })
  })

  it('the first workspace of a context becomes its own', async () => {
    const { url, apiKey } = server
    await cairn.text(
      'ctx',
      'add',
      '--name',
      'fresh',
      '--server',
      url,
      '--api-key-file',
      keyFile(apiKey),
    )
    const without = await cairn.run(['fs', 'ls', 'fresh:/'])
    expect(without.code).toBe(3)
    expect(without.stderr).toContain(
      'cairn fs ls: cannot find the workspace: none is named. Give --workspace',
    )
    const made = await cairn.text('ws', 'create', 'fresh-one', '--context', 'fresh')
    expect(made).toBe('made workspace fresh-one, which context fresh uses from now on\n')
    expect(await cairn.text('fs', 'ls', 'fresh:/')).toBe('')
  })
})

describe('fs ls', () => {
  it('names, long lines and JSON', async () => {
    await files.write('/b.txt', 'hello', { mode: 0o640 })
    await files.mkdir('/a')
    await files.symlink('b.txt', '/c')
    expect(await cairn.text('fs', 'ls')).toBe('a/\nb.txt\nc\n')
    const long = (await cairn.text('fs', 'ls', '-l', ':/')).trimEnd().split('\n')
    expect(long[0]).toMatch(
      /^drwxr-xr-x {2}\d+ {2}\d+ {2}\d+ {2}0 {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}a$/,
    )
    expect(long[1]).toMatch(/^-rw-r----- .* b\.txt$/)
    expect(long[2]).toMatch(/^l.* c -> b\.txt$/)
    const [directory, file] = await cairn.json<FileStat>('fs', 'ls', '/')
    expect([directory?.kind, file?.size]).toEqual(['directory', 5])
    expect(await cairn.text('fs', 'ls', ':/b.txt')).toBe('b.txt\n')
  })

  it('a missing directory is named in the error', async () => {
    expect(await cairn.error('fs', 'ls', ':/no')).toMatchObject({
      code: 'file_system',
      errno: 'ENOENT',
      exit: 4,
    })
  })
})

describe('fs cat, stat', () => {
  it('whole, parts, several and none', async () => {
    await files.write('/a', '0123456789')
    await files.write('/b', 'x')
    expect(await cairn.text('fs', 'cat', ':/a', '/b')).toBe('0123456789x')
    expect(await cairn.text('fs', 'cat', '--offset', '3', ':/a', '--length=4')).toBe('3456')
    expect(await cairn.text('fs', 'cat', '-offset', '50', ':/a')).toBe('')
    const ran = await cairn.run(['fs', 'cat', ':/nothing'])
    expect(ran.stdout).toHaveLength(0)
    expect(ran.stderr).toBe(
      'cairn fs cat: cannot read /nothing: no such file or directory. Check the path, or list the directory it should be in.\n',
    )
    expect((await cairn.error('fs', 'cat', ':/')).errno).toBe('EISDIR')
  })

  it('bytes come as they are, and as base64 in JSON', async () => {
    const bytes = Buffer.from([0, 255, 10, 13, 0xc3])
    await files.write('/bin', bytes)
    expect((await cairn.run(['fs', 'cat', ':/bin'])).stdout).toEqual(bytes)
    expect(await cairn.json('fs', 'cat', ':/bin')).toEqual([
      { path: '/bin', size: 5, base64: bytes.toString('base64') },
    ])
  })

  it('stat as text and JSON, of a symlink too', async () => {
    await files.write('/a', 'x')
    await files.symlink('a', '/l')
    expect(await cairn.text('fs', 'stat', ':/a')).toContain('mode:      0644 -rw-r--r--')
    const stat = await files.stat('/a')
    expect(JSON.parse(await cairn.text('fs', 'stat', '-o', 'json', ':/l'))).toEqual(stat)
    expect(await cairn.json('fs', 'stat', ':/a')).toEqual([stat])
    expect(await cairn.text('fs', 'stat', ':/l', '--no-follow')).toContain('target:    a')
  })
})

describe('fs mkdir, mv, rm, chmod, symlink, hardlink', () => {
  it('fs mkdir, mv, rm, chmod, symlink, hardlink do what they say', async () => {
    await cairn.text('fs', 'mkdir', '-p', ':/d/e', '--mode', '750')
    await cairn.text('fs', 'mkdir', ':/d/e')
    expect((await files.stat('/d/e')).mode).toBe('0750')
    await files.write('/f', 'x')
    await cairn.text('fs', 'mv', ':/f', ':/d')
    await cairn.text('fs', 'mv', '/d/f', ':/new/g')
    expect(await files.readText('/new/g')).toBe('x')
    await cairn.text('fs', 'chmod', '0755', ':/new/g', ':/d')
    expect((await files.stat('/new/g')).mode).toBe('0755')
    await cairn.text('fs', 'symlink', '../new/g', ':/links/s')
    expect(await files.readText('/links/s')).toBe('x')
    await cairn.text('fs', 'hardlink', ':/new/g', ':/links/h')
    expect((await files.stat('/new/g')).nlink).toBe(2)
    await cairn.text('fs', 'rm', ':/new/g', ':/links/h')
    expect(await files.exists('/links/s', { follow: false })).toBe(true)
  })

  it('rm: trees only with -r, absence only with -f', async () => {
    await files.write('/d/e/f', 'x')
    expect((await cairn.error('fs', 'rm', ':/d')).errno).toBe('ENOTEMPTY')
    expect((await cairn.error('fs', 'rm', '-r', ':/no')).errno).toBe('ENOENT')
    const removed = await cairn.json<{ path: string; removed: boolean }>(
      'fs',
      'rm',
      '-rf',
      ':/no',
      ':/d',
    )
    expect(removed.map((each) => each.removed)).toEqual([false, true])
    expect(await files.exists('/d')).toBe(false)
  })

  it('mv -n replaces nothing; between workspaces nothing is renamed or linked', async () => {
    await files.write('/a', '1')
    await files.write('/b', '2')
    expect((await cairn.error('fs', 'mv', '-n', ':/a', ':/b')).errno).toBe('EEXIST')
    await server.cairn.workspaces.create('other')
    const { url, apiKey } = server
    await cairn.text(
      'ctx',
      'add',
      '--name',
      'other',
      '--server',
      url,
      '--api-key-file',
      keyFile(apiKey),
      '-w',
      'other',
    )
    for (const words of [
      ['mv', ':/a', 'other:/a'],
      ['hardlink', ':/a', 'other:/a'],
      ['symlink', 'other:/a', ':/l'],
    ])
      expect(await cairn.error('fs', ...words)).toMatchObject({ code: 'usage', exit: 2 })
  })

  it('a mode that is none', async () => {
    expect(await cairn.error('fs', 'chmod', 'u+x', ':/')).toMatchObject({ code: 'usage', exit: 2 })
  })
})

describe('fs find, log', () => {
  it('find: all conditions hold', async () => {
    await files.write('/src/a.ts', 'x'.repeat(2000))
    await files.write('/src/.b.ts', 'x')
    await files.write('/src/deep/c.md', 'x')
    await files.touch('/src/a.ts', { mtime: new Date('2001-01-01') })
    const find = async (...args: string[]): Promise<string[]> =>
      (await cairn.text('fs', 'find', ...args)).split('\n').filter((line) => line !== '')
    expect(await find()).toEqual(['/src', '/src/.b.ts', '/src/a.ts', '/src/deep', '/src/deep/c.md'])
    expect(await find(':/src', '-name', '*.ts')).toEqual(['/src/.b.ts', '/src/a.ts'])
    expect(await find('-name', '*.ts', '-size', '+1k')).toEqual(['/src/a.ts'])
    expect(await find('-type', 'f', '-size', '-10')).toEqual(['/src/.b.ts', '/src/deep/c.md'])
    expect(await find('-older', '2010-01-01')).toEqual(['/src/a.ts'])
    expect(await find('-newer', '1h', '-type', 'd', ':/src')).toEqual(['/src/deep'])
    await files.tag('/src/deep', { agent: 'a' })
    await files.tag('/src/a.ts', { agent: 'b' })
    expect(await find('-tag', 'agent')).toEqual(['/src/a.ts', '/src/deep'])
    expect(await find('-tag', 'agent=a', '-changed-by', 'default')).toEqual(['/src/deep'])
    expect(await find('-changed-by', 'unheard-of')).toEqual([])
    expect((await cairn.json<FileStat>('fs', 'find', '-name', 'c.md'))[0]?.path).toBe(
      '/src/deep/c.md',
    )
  })

  it('log: oldest first, limited; the history of a file newest first', async () => {
    await files.write('/a', '1')
    await files.write('/b', '1')
    await files.write('/a', '2')
    expect((await cairn.json<LogEntry>('fs', 'log')).map(({ seq }) => seq)).toEqual([1, 2, 3])
    expect(
      (await cairn.json<LogEntry>('fs', 'log', '--after', '1', '-n1')).map(({ seq }) => seq),
    ).toEqual([2])
    expect(
      (await cairn.json<LogEntry>('fs', 'log', ':/a', '--newest')).map(({ seq }) => seq),
    ).toEqual([3, 1])
    const seqsOf = async (...args: string[]): Promise<number[]> =>
      (await cairn.json<LogEntry>('fs', 'log', ...args)).map(({ seq }) => seq)
    expect(await seqsOf('--newest', '-n2')).toEqual([3, 2])
    expect(await seqsOf('--after', '1', '--before', '3')).toEqual([2])
    expect(await seqsOf('--since', '2001-01-01', '--newest', ':/b')).toEqual([2])
    expect(await seqsOf('--until', '2001-01-01')).toEqual([])
    expect(await cairn.error('fs', 'log', '--since', 'then')).toMatchObject({ code: 'usage' })
    expect(await cairn.text('fs', 'log', ':/b')).toMatch(/^2 {2}\S+Z {2}\S+ {2}create \/b\n/)
  })
})

describe('what goes wrong', () => {
  it('a wrong key: 3', async () => {
    const ran = await cairn.run([
      'ws',
      'ls',
      '--server',
      server.url,
      '--api-key-file',
      keyFile('wrong'),
    ])
    expect(ran.code).toBe(3)
    expect(ran.stderr).toMatch(
      /^cairn ws ls: cannot list workspaces: the server does not know this key or token\. Save a valid key with: cairn ctx add/,
    )
  })

  it('the environment names the server', async () => {
    const env = { CAIRN_SERVER: server.url, CAIRN_API_KEY: server.apiKey }
    const aliases = { DRIVE9_SERVER: server.url, DRIVE9_API_KEY: server.apiKey }
    await files.write('/a', 'x')
    const { name } = workspace
    for (const variables of [env, aliases]) {
      const ran = await cairn.run(['fs', 'cat', ':/a', '-w', name], {
        env: { ...variables, HOME: '/nowhere' },
      })
      expect(ran.stdout.toString()).toBe('x')
    }
  })

  it('hostile paths are refused before they leave', async () => {
    for (const path of [':/../etc/passwd', ':/a/../../b'])
      expect(await cairn.error('fs', 'cat', path)).toMatchObject({
        code: 'file_system',
        errno: 'EINVAL',
      })
    expect((await cairn.error('fs', 'cat', `:/${'n'.repeat(256)}`)).errno).toBe('ENAMETOOLONG')
  })

  it('a broken config is told, not overwritten', async () => {
    const path = join(cairn.home(), 'broken')
    writeFileSync(path, '{')
    const ran = await cairn.run(['fs', 'ls'], { env: { CAIRN_CONFIG: path } })
    expect(ran.code).toBe(3)
    expect(ran.stderr).toContain(`cairn fs ls: cannot read ${path}: `)
  })
})
