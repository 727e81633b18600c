import { type Ino, type Name, rootIno } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { directoriesOf, homesOf } from './directories-of.ts'
import type { Inode, Link } from './inode.ts'
import type { Op } from './op.ts'
import type { View } from './view.ts'

const [here, there, file, twice, nameless] = [2, 3, 10, 11, 12] as Ino[]
const links: readonly Link[] = [
  { parent: here!, name: 'twice' as Name },
  { parent: there!, name: 'again' as Name },
]

/** Two directories, a file in the first, one with a name in each, and one without a name. */
const inodes = new Map<Ino, Partial<Inode>>([
  [rootIno, { kind: 'directory' }],
  [here!, { kind: 'directory', home: { parent: rootIno, name: 'here' as Name } }],
  [there!, { kind: 'directory', home: { parent: rootIno, name: 'there' as Name } }],
  [file!, { kind: 'file', home: { parent: here!, name: 'file' as Name } }],
  [twice!, { kind: 'file', home: undefined }],
  [nameless!, { kind: 'file', home: undefined }],
])
const names = new Map<string, Ino>([
  [`${rootIno} here`, here!],
  [`${rootIno} there`, there!],
  [`${here} file`, file!],
  [`${here} twice`, twice!],
])
const view: View = {
  inode: (ino) => inodes.get(ino) as Inode | undefined,
  links: (ino) => (ino === twice ? links : []),
  child(parent, name) {
    const ino = names.get(`${parent} ${name}`)
    return ino === undefined ? undefined : { ino, kind: inodes.get(ino)!.kind! }
  },
  blockFrom: () => undefined,
  entries: () => [],
}

describe('the directories that an operation concerns', () => {
  it.each<[string, object, readonly (Ino | undefined)[]]>([
    ['a new name: where it is', { type: 'create', parent: here, name: 'n' }, [here]],
    ['a write: where the file is', { type: 'write', ino: file }, [here]],
    ['a write to a file with two names: both', { type: 'append', ino: twice }, [here, there]],
    ['the mode of a directory: itself', { type: 'setattr', ino: here }, [here]],
    ['a removal', { type: 'unlink', parent: here, name: 'file' }, [here, here]],
    [
      'a removal of one of two names',
      { type: 'unlink', parent: here, name: 'twice' },
      [here, here, there],
    ],
    [
      'rmdir: the directory, too',
      { type: 'rmdir', parent: rootIno, name: 'here' },
      [rootIno, here],
    ],
    [
      'a rename onto a file elsewhere',
      { type: 'rename', parent: there, name: 'new', newParent: here, newName: 'twice' },
      [there, here, here, there],
    ],
    [
      'a directory that gets another parent: the root, too',
      { type: 'rename', parent: rootIno, name: 'there', newParent: here, newName: 'twice' },
      [rootIno, here, there, here, there, rootIno],
    ],
    [
      'a directory that keeps its parent: not more than that',
      { type: 'rename', parent: rootIno, name: 'there', newParent: rootIno, newName: 'new' },
      [rootIno, rootIno, there],
    ],
    [
      'a copy: where it is read as well',
      { type: 'copy', from: twice, ino: file },
      [here, there, here],
    ],
    ['a new name of a file', { type: 'link', ino: file, parent: there, name: 'n' }, [there, here]],
    ['a write to a file without a name: none', { type: 'write', ino: nameless }, []],
    ['a reap: none', { type: 'reap', ino: nameless }, []],
  ])('%s', (_, op, expected) => {
    expect(directoriesOf(view, op as Op)).toEqual(expected)
  })

  it('what is not there is nowhere', () => {
    expect(homesOf(view, 99 as Ino)).toEqual([])
  })
})
