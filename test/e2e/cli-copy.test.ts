// cairn fs cp in every direction, compared byte for byte.
import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Workspace } from '@cairn/sdk'
import { beforeEach, describe, expect, it } from 'vitest'
import { useCairn } from './run-cairn.ts'
import { useServer } from './use-server.ts'
import { keyFile } from '@cairn/server/testing/key-file'

const cairn = useCairn()
const server = useServer(cairn)
let workspace: Workspace
let local: string

beforeEach(async () => {
  workspace = await server.enter()
  local = join(cairn.home(), workspace.name)
  mkdirSync(local)
})

const cp = (...args: string[]): Promise<string> => cairn.text('fs', 'cp', ...args)

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** Everything below a directory, with names as bytes: what it is, its mode and its bytes or target. */
function picture(directory: string | Buffer, below = ''): Record<string, string> {
  const all: Record<string, string> = {}
  for (const name of readdirSync(directory, { encoding: 'buffer' })) {
    const path = Buffer.concat([Buffer.from(directory), Buffer.from('/'), name])
    const shown = `${below}/${name.toString('latin1')}`
    const stats = lstatSync(path)
    const mode = (stats.mode & 0o7777).toString(8)
    if (stats.isSymbolicLink()) all[shown] = `-> ${readlinkSync(path, 'latin1')}`
    else if (stats.isFile()) all[shown] = `${mode} ${sha256(readFileSync(path))}`
    else Object.assign(all, { [shown]: `${mode} directory` }, picture(path, shown))
  }
  return all
}

/** A tree with all that may go wrong. */
function makeTree(root: string): void {
  const write = (path: string | Buffer, bytes: string | Buffer, mode = 0o644): void => {
    writeFileSync(path, bytes)
    chmodSync(path, mode)
  }
  mkdirSync(join(root, 'deep/er/and/deeper'), { recursive: true })
  mkdirSync(join(root, 'empty'))
  mkdirSync(join(root, 'closed'))
  write(join(root, 'empty-file'), '')
  write(join(root, 'one'), 'x', 0o600)
  write(join(root, 'script.sh'), '#!/bin/sh\n', 0o755)
  write(join(root, 'block'), randomBytes(256 * 1024))
  write(join(root, 'block-and-one'), randomBytes(256 * 1024 + 1))
  write(join(root, 'large'), randomBytes(9 << 20))
  write(join(root, 'closed/inside'), 'y')
  for (const name of [
    'a b',
    '100%',
    '?x=1&y#z',
    '-r',
    '--help',
    '😀 ä',
    'new\nline',
    '\x1b[31m',
    '*',
    'n'.repeat(255),
  ])
    write(join(root, 'deep', name), name)
  write(
    Buffer.concat([Buffer.from(join(root, 'deep/er/')), Buffer.from([0xff, 0xfe])]),
    'not UTF-8',
  )
  const notText = Buffer.concat([Buffer.from(join(root, 'deep/')), Buffer.from([0xe9])])
  mkdirSync(notText)
  write(Buffer.concat([notText, Buffer.from('/inside')]), 'below a name that is not UTF-8')
  for (let index = 0; index < 40; index++) write(join(root, 'deep/er/and', `f${index}`), `${index}`)
  symlinkSync('../one', join(root, 'deep/to-one'))
  symlinkSync('nowhere', join(root, 'dangling'))
  symlinkSync(Buffer.of(0xff, 0xfe), join(root, 'to-bytes'))
  symlinkSync('deep', join(root, 'to-deep'))
  chmodSync(join(root, 'closed'), 0o555)
}

describe('cp -r', () => {
  it('there and back again, the tree is the same', async () => {
    const [source, back] = [join(local, 'source'), join(local, 'back')]
    mkdirSync(source)
    makeTree(source)
    const [summary] = await cairn.json<{ files: number; symlinks: number }>(
      'fs',
      'cp',
      '-r',
      source,
      ':/tree',
    )
    expect(summary).toMatchObject({ files: 59, symlinks: 4 })
    await cp('-r', ':/tree', back)
    expect(picture(back)).toEqual(picture(source))
    // Only root may write into a closed directory.
    for (const tree of [source, back]) chmodSync(join(tree, 'closed'), 0o755)
    const wanted = picture(source)
    // Again over what is there: nothing changes, and nothing is nested.
    await cp('-r', `${source}/`, ':/tree/')
    await cp(':/tree', back, '--recursive')
    expect(picture(back)).toEqual(wanted)
    expect(readdirSync(back).filter((name) => name.startsWith('.cairn-'))).toEqual([])
  })

  it('between two places of a workspace, and two workspaces', async () => {
    const source = join(local, 'source')
    mkdirSync(source)
    makeTree(source)
    chmodSync(join(source, 'closed'), 0o755)
    await cp('-r', source, ':/tree')
    await cp('-r', ':/tree', ':/by/reference')
    await cp('-r', ':/by/reference', join(local, 'one'))
    expect(picture(join(local, 'one'))).toEqual(picture(source))
    const { url, apiKey } = server
    const name = `other-${workspace.name}`
    await server.cairn.workspaces.create(name)
    await cairn.text(
      'ctx',
      'add',
      '--name',
      name,
      '--server',
      url,
      '--api-key-file',
      keyFile(apiKey),
      '-w',
      name,
    )
    await cp('-r', ':/tree', `${name}:/tree`)
    await cp('-r', `${name}:/tree`, join(local, 'two'))
    expect(picture(join(local, 'two'))).toEqual(picture(source))
  })

  it('into a directory that is there: files are replaced, others stay', async () => {
    await workspace.files.write('/d/old', 'old')
    await workspace.files.write('/d/both', 'old')
    await workspace.files.write('/s/both', 'new')
    await workspace.files.write('/s/new/one', 'new')
    await cp('-r', ':/s', ':/d')
    expect(await workspace.files.readText('/d/both')).toBe('new')
    expect(await workspace.files.readText('/d/old')).toBe('old')
    expect(await workspace.files.readText('/d/new/one')).toBe('new')
  })

  it('a directory without -r, or into itself, is refused', async () => {
    await workspace.files.mkdir('/d')
    expect(await cairn.error('fs', 'cp', ':/d', local)).toMatchObject({ code: 'usage', exit: 2 })
    expect(await cairn.error('fs', 'cp', local, ':/x')).toMatchObject({ code: 'usage' })
    expect(await cairn.error('fs', 'cp', '-r', ':/d', ':/d/below')).toMatchObject({ code: 'usage' })
    expect(await cairn.error('fs', 'cp', '-r', ':/d', ':/d')).toMatchObject({ code: 'usage' })
  })

  it('what one file refuses is told, and the rest is copied', async () => {
    mkdirSync(join(local, 's/blocked'), { recursive: true })
    writeFileSync(join(local, 's/good'), 'good')
    writeFileSync(join(local, 's/blocked/x'), 'x')
    await workspace.files.write('/d/blocked', 'a file is in the way')
    const ran = await cairn.run(['fs', 'cp', '-r', join(local, 's'), ':/d'])
    expect(ran.code).toBe(1)
    expect(ran.stderr).toContain('cairn fs cp: cannot make the directory /d/blocked: ')
    expect(ran.stderr).toContain('cairn fs cp: cannot copy everything: 1 entry could not be copied')
    expect(await workspace.files.readText('/d/good')).toBe('good')
  })

  it('a symlink that took the place of a directory does not lead the copy elsewhere', async () => {
    const outside = join(local, 'outside')
    mkdirSync(outside)
    mkdirSync(join(local, 'back'))
    symlinkSync(outside, join(local, 'back/d'))
    await workspace.files.write('/t/d/secret', 'x')
    const ran = await cairn.run(['fs', 'cp', '-r', ':/t', join(local, 'back')])
    expect(ran.code).toBe(1)
    expect(readdirSync(outside)).toEqual([])
  })
})

describe('cp of one file', () => {
  it('to a name, into a directory, and back', async () => {
    writeFileSync(join(local, 'a.txt'), 'hello')
    chmodSync(join(local, 'a.txt'), 0o640)
    await workspace.files.mkdir('/d')
    await cp(join(local, 'a.txt'), ':/new/parents/b.txt')
    await cp(join(local, 'a.txt'), ':/d')
    await cp(join(local, 'a.txt'), ':/slash/')
    for (const path of ['/new/parents/b.txt', '/d/a.txt', '/slash/a.txt'])
      expect(await workspace.files.stat(path)).toMatchObject({ size: 5, mode: '0640' })
    await cp(':/d/a.txt', join(local, 'back'))
    await cp(':/d/a.txt', `${local}/`)
    expect(readFileSync(join(local, 'back'), 'utf8')).toBe('hello')
    expect(lstatSync(join(local, 'back')).mode & 0o777).toBe(0o640)
    await cp(':/d/a.txt', ':/new')
    await cp(':/d/a.txt', ':/new/parents/b.txt')
    expect(await workspace.files.readText('/new/a.txt')).toBe('hello')
  })

  it('a symlink is followed here and there, and stays one where it is the target', async () => {
    writeFileSync(join(local, 'real'), 'old')
    symlinkSync('real', join(local, 'link'))
    await cp(join(local, 'link'), ':/a')
    await workspace.files.symlink('a', '/l')
    await workspace.files.write('/a', 'new')
    await cp(':/l', join(local, 'link'))
    expect(lstatSync(join(local, 'link')).isSymbolicLink()).toBe(true)
    expect(readFileSync(join(local, 'real'), 'utf8')).toBe('new')
  })

  it('what is no file is written into', async () => {
    await workspace.files.write('/a', 'x')
    await cp(':/a', '/dev/null')
    expect(lstatSync('/dev/null').isCharacterDevice()).toBe(true)
  })

  it('neither end remote, or not there', async () => {
    expect(await cairn.error('fs', 'cp', 'a', 'b')).toMatchObject({ code: 'usage', exit: 2 })
    expect(await cairn.error('fs', 'cp', join(local, 'no'), ':/a')).toMatchObject({
      code: 'local_file',
      errno: 'ENOENT',
      exit: 4,
    })
    expect(await cairn.error('fs', 'cp', ':/no', local)).toMatchObject({ errno: 'ENOENT', exit: 4 })
    await workspace.files.write('/a', 'x')
    expect(await cairn.error('fs', 'cp', ':/a', ':/a')).toMatchObject({ code: 'usage' })
    expect(await cairn.error('fs', 'cp', ':/a', join(local, 'no/such/a'))).toMatchObject({
      exit: 4,
    })
  })
})

describe('pipes', () => {
  it.each([0, 5, (8 << 20) + 1])('%i bytes in and out', async (size) => {
    const bytes = randomBytes(size)
    const put = await cairn.run(['fs', 'cp', '-', ':/p'], { stdin: bytes })
    expect(put.stderr).toBe('')
    expect((await cairn.run(['fs', 'cp', ':/p', '-'])).stdout.equals(bytes)).toBe(true)
  })

  it('--append adds from a pipe and a file, and makes the file', async () => {
    await cairn.run(['fs', 'cp', '--append', '-', ':/log'], { stdin: 'one\n' })
    writeFileSync(join(local, 'more'), 'two\n')
    await cp('--append', join(local, 'more'), ':/log')
    expect(await workspace.files.readText('/log')).toBe('one\ntwo\n')
    expect(await cairn.error('fs', 'cp', '--append', ':/log', local)).toMatchObject({
      code: 'usage',
    })
  })

  it('--json tells about it beside what is copied', async () => {
    await workspace.files.write('/a', 'hello')
    const ran = await cairn.run(['fs', 'cp', ':/a', '-', '--json'])
    expect(ran.stdout.toString()).toBe('hello')
    expect(JSON.parse(ran.stderr)).toMatchObject({ files: 1, bytes: 5 })
  })
})
