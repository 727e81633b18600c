import { type ByteString, FsError, type Ino, type Name, rootIno } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { MemoryStores } from '../../test/ports.ts'
import { storeNewTree } from '../history/new-tree.ts'
import { applyOp } from './apply.ts'
import { Changes } from './changes.ts'
import type { Kind } from './inode.ts'
import {
  pathOf,
  resolveExisting,
  resolveParent,
  resolvePath,
  type ResolvePathOptions,
} from './resolve.ts'
import { TreeView } from './tree-view.ts'

const root = { uid: 0, gid: 0, groups: [] }
const ordinaryUser = { uid: 1000, gid: 1000, groups: [] }
const time = { sec: 0, nsec: 0 }

let tree: Changes
let lastIno: number

beforeEach(async () => {
  const { nodes } = new MemoryStores()
  tree = new Changes(new TreeView(nodes, await storeNewTree(nodes)))
  lastIno = 1
})

function add(parent: Ino, name: string, kind: Kind, target?: string, mode = 0o755): Ino {
  const ino = ++lastIno as Ino
  const bytes = target === undefined ? undefined : new TextEncoder().encode(target)
  const owner = { uid: 0, gid: 0 }
  const made = { parent, name: name as Name, ino, kind, mode, rdev: 0, target: bytes }
  applyOp(tree, { type: 'create', time, ...made, ...owner })
  return ino
}

function find(path: ByteString, options: Partial<ResolvePathOptions> = {}): Ino {
  return resolveExisting(tree, path, { who: root, follow: true, ...options }).ino
}

function errno(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    if (error instanceof FsError) return error.code
    throw error
  }
  return 'ok'
}

describe('resolveExisting', () => {
  it('slashes doubled, dots, a leading slash: one file', () => {
    const directory = add(rootIno, 'd', 'directory')
    const file = add(directory, 'f', 'file')
    for (const path of ['d/f', '/d/f', 'd//./f', 'd/../d/f', '../../d/f'])
      expect(find(path)).toBe(file)
  })

  it('from a directory: relative paths start there, absolute ones do not', () => {
    const directory = add(rootIno, 'd', 'directory')
    const file = add(directory, 'f', 'file')
    expect(find('f', { from: directory })).toBe(file)
    expect(find('..', { from: directory })).toBe(rootIno)
    expect(errno(() => find('/f', { from: directory }))).toBe('ENOENT')
  })

  it('an absolute target: starts at the root, in the middle and at the end', () => {
    const directory = add(rootIno, 'd', 'directory')
    const file = add(directory, 'f', 'file')
    add(directory, 'up', 'symlink', '/')
    add(directory, 'file', 'symlink', '/d/f')
    expect(find('d/up/d/f')).toBe(file)
    expect(find('d/file')).toBe(file)
    expect(find('d/up')).toBe(rootIno)
  })

  it('a symlink at its end: followed only if asked for, or with a slash behind it', () => {
    const directory = add(rootIno, 'd', 'directory')
    const link = add(rootIno, 's', 'symlink', 'd')
    expect(find('s')).toBe(directory)
    expect(find('s', { follow: false })).toBe(link)
    expect(find('s/', { follow: false })).toBe(directory)
  })

  it('a slash behind a file, behind its name or in a target: ENOTDIR', () => {
    add(rootIno, 'f', 'file')
    add(rootIno, 's', 'symlink', 'f/')
    expect(errno(() => find('f/'))).toBe('ENOTDIR')
    expect(errno(() => find('s'))).toBe('ENOTDIR')
  })

  it('a directory that may not be searched: EACCES, before anything below it is known', () => {
    add(add(rootIno, 'd', 'directory', undefined, 0o700), 'f', 'file')
    for (const path of ['d/f', 'd/missing', 'd/.', 'd/..', `d/${'n'.repeat(256)}`])
      expect(errno(() => find(path, { who: ordinaryUser }))).toBe('EACCES')
  })
})

describe('resolvePath', () => {
  it('a free name: the directory it would go into', () => {
    const directory = add(rootIno, 'd', 'directory')
    add(rootIno, 's', 'symlink', 'd/new')
    const place = { parent: directory, name: 'new', dentry: undefined, directoryOnly: false }
    expect(resolvePath(tree, 's', { who: root, follow: true })).toEqual(place)
  })

  it('a slash behind a name to be made: EISDIR, even where the path leads nowhere', () => {
    add(rootIno, 's', 'symlink', 'missing/new')
    const make = (path: string) => () =>
      resolvePath(tree, path, { who: root, follow: true, create: true })
    expect(['new/', 's/', 's', '.'].map((path) => errno(make(path)))).toEqual([
      'EISDIR',
      'EISDIR',
      'ENOENT',
      'ok',
    ])
  })
})

describe('resolveParent', () => {
  it.each([
    ['d/f', 'f', false],
    ['d/s/', 's', true],
    ['d/.', '.', false],
    ['d/../', '..', true],
    ['//', '', true],
  ])('%s: ends with "%s"', (path, last, directoryOnly) => {
    const directory = add(rootIno, 'd', 'directory')
    const parent = path.startsWith('d') ? directory : rootIno
    expect(resolveParent(tree, path, { who: root })).toEqual({ parent, last, directoryOnly })
  })
})

describe('pathOf', () => {
  it('leads back to where it came from; a file of two names has one of its paths; none without a name', () => {
    const directory = add(rootIno, 'd', 'directory')
    const file = add(directory, 'f', 'file')
    expect(pathOf(tree, file)).toEqual(['d', 'f'])
    applyOp(tree, { type: 'link', time, ino: file, parent: rootIno, name: 'g' as Name })
    expect([['d', 'f'], ['g']]).toContainEqual(pathOf(tree, file))
    applyOp(tree, { type: 'unlink', time, parent: rootIno, name: 'g' as Name })
    applyOp(tree, { type: 'unlink', time, parent: directory, name: 'f' as Name })
    expect([pathOf(tree, file), pathOf(tree, rootIno)]).toEqual([undefined, []])
  })
})
