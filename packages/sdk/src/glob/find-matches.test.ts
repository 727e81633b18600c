import {
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FileEntry, FileStat } from '@cairn/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { gather } from '../../test/gather.ts'
import { CairnError } from '../client/error.ts'
import { findMatches, type Listing } from './find-matches.ts'

let root: string

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'cairn-glob-'))
  for (const directory of ['a/b/c', 'a/.hidden/x', '.top/y', 'empty', 'a/b2'])
    mkdirSync(join(root, directory), { recursive: true })
  const files = ['x.ts', 'y.js', '.dot.ts', 'a/x.ts', 'a/b/z.ts', 'a/b/c/deep.ts', 'a/b2/z.md']
  for (const file of [...files, 'a/.hidden/x/h.ts', '.top/y/t.ts', 'a/b/ä.ts', 'a/b/c/😀'])
    writeFileSync(join(root, file), '')
  symlinkSync('a', join(root, 'link'))
  symlinkSync('nowhere', join(root, 'dangling'))
})

afterAll(() => rmSync(root, { recursive: true }))

/** The files of the directory, answered as the server answers. */
const local: Listing = {
  async stat(path) {
    return statOf(String(path))
  },
  async *list(path) {
    for (const name of names(String(path))) yield { ...statOf(`${String(path)}/${name}`), name }
  },
  async *walk(path) {
    for (const name of names(String(path))) {
      const entry: FileEntry = { ...statOf(`${path === '/' ? '' : String(path)}/${name}`), name }
      yield entry
      if (entry.kind === 'directory') yield* local.walk(entry.path, {})
    }
  },
}

function names(path: string): string[] {
  return asking(() => readdirSync(join(root, path)).toSorted())
}

function statOf(path: string): FileStat {
  const stats = asking(() => lstatSync(join(root, path)))
  const kind = stats.isDirectory() ? 'directory' : stats.isSymbolicLink() ? 'symlink' : 'file'
  return { path, kind } as FileStat
}

function asking<T>(ask: () => T): T {
  try {
    return ask()
  } catch (error) {
    const errno = (error as NodeJS.ErrnoException).code
    throw new CairnError('file_system', { what: 'ask', reason: String(errno), errno })
  }
}

async function find(pattern: string): Promise<string[]> {
  const found = await gather(findMatches(local, pattern, {}))
  return found.map(({ path }) => path.slice(1)).toSorted()
}

describe('findMatches', () => {
  it.each([
    '*',
    '*.ts',
    '.*',
    '*/*',
    '*/*.ts',
    'a/b/*',
    'a/b*/z.*',
    '**/*.ts',
    'a/**',
    'a/**/*.ts',
    '**/b/*.ts',
    '**/z.{ts,md}',
    '{x,a/x}.ts',
    'a/{b,b2}/z.*',
    'a/?/z.ts',
    '[xy].*',
    'a/[!b]*',
    'a/x.ts',
    'a/nothing',
    'x.ts/*',
    'nowhere/**',
    'link/*',
    'dangling',
    'dangling/*',
    'a/.hidden/**/*.ts',
    '**/.hidden',
    'a/b/ä.ts',
    'empty/**',
  ])('%s: as node:fs finds it', async (pattern) => {
    expect(await find(pattern)).toEqual(globSync(pattern, { cwd: root }).toSorted())
  })

  it('a question mark is one character, however many units it has', async () => {
    expect(await find('a/b/c/?')).toEqual(['a/b/c/😀'])
  })

  it('a match of several alternatives is given once', async () => {
    expect(await find('{x,x,*}.ts')).toEqual(['x.ts'])
  })

  it('a failure that is not absence is told', async () => {
    const list = async function* (): AsyncGenerator<FileEntry> {
      yield { ...statOf('/x.ts'), name: 'x.ts' }
      throw new CairnError('unreachable', { what: 'list', reason: 'gone' })
    }
    const broken = { ...local, list }
    await expect(gather(findMatches(broken, '*', {}))).rejects.toThrow('cannot list: gone')
  })
})
