import {
  applyOp,
  Changes,
  Nodes,
  resolvePath,
  storeNewTree,
  superuser,
  TreeView,
} from '@cairn/core'
import { MemoryNodeStore } from '@cairn/core/testing'
import { type ByteString, FsError, type Ino, type Name, rootIno } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { sha256 } from '../ports/content-worker.ts'
import { LookedView } from './given.ts'

const time = { sec: 0, nsec: 0 }
const [directory, deep, file, link] = [2, 3, 4, 5] as [Ino, Ino, Ino, Ino]

describe('the directories that a path takes from their holders', () => {
  let tree: Changes

  beforeEach(async () => {
    const nodes = new Nodes({ store: new MemoryNodeStore(), hash: sha256 })
    tree = new Changes(new TreeView(nodes, await storeNewTree(nodes)))
    const create = (parent: Ino, name: string, ino: Ino, target?: string): void => {
      const kind = target !== undefined ? 'symlink' : ino === file ? 'file' : 'directory'
      const owner = { mode: 0o755, uid: 0, gid: 0, rdev: 0 }
      const bytes = target === undefined ? undefined : new TextEncoder().encode(target)
      const made = { parent, name: name as Name, ino, kind, target: bytes } as const
      applyOp(tree, { type: 'create', time, ...made, ...owner })
    }
    create(rootIno, 'd', directory)
    create(directory, 'deep', deep)
    create(deep, 'file', file)
    create(rootIno, 'link', link, '/d/deep')
  })

  const lookedFor = (path: string): readonly Ino[] => {
    const looked = new LookedView(tree)
    try {
      resolvePath(looked, path as ByteString, { who: superuser, follow: true })
    } catch (error) {
      if (!(error instanceof FsError)) throw error
    }
    return [...looked.directories].sort((a, b) => a - b)
  }

  it('the directories that a path takes from their holders are those on the way, and not the root above them: moving one takes holding it', () => {
    expect(lookedFor('/d/deep/file')).toEqual([directory, deep])
    expect(lookedFor('/d/../d/deep/absent')).toEqual([directory, deep])
  })

  it('the directories that a path takes from their holders are the root, too, where a name of it is free, or leads to no directory', () => {
    expect(lookedFor('/absent')).toEqual([rootIno])
    expect(lookedFor('/absent/file')).toEqual([rootIno])
    expect(lookedFor('/link/file')).toEqual([rootIno, directory, deep])
  })

  it('the directories that a path takes from their holders are none that the change itself makes: it has another number when it is decided again', () => {
    const looked = new LookedView(tree)
    const made = 99 as Ino
    expect(looked.child(made, 'file' as Name)).toBeUndefined()
    expect([...looked.entries(made, undefined, 10), ...looked.directories]).toEqual([])
  })
})
