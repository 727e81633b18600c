import { applyOp, Changes, Nodes, runAtOnce, storeNewTree, TreeView } from '@cairn/core'
import { MemoryNodeStore } from '@cairn/core/testing'
import { type Ino, type Name, rootIno } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { sha256 } from '../ports/content-worker.ts'
import { TreeEdit } from './tree-edit.ts'
import { copy, remove } from './trees.ts'

const time = { sec: 1, nsec: 0 }
const owner = { mode: 0o755, uid: 0, gid: 0, rdev: 0, target: undefined }
let tree: Changes
let lastIno = 1

function create(parent: Ino, name: string, kind: 'file' | 'directory'): Ino {
  const ino = ++lastIno as Ino
  applyOp(tree, { type: 'create', time, parent, name: name as Name, ino, kind, ...owner })
  return ino
}

function edit(): TreeEdit {
  return new TreeEdit(tree, { now: time, newIno: () => ++lastIno as Ino, reapsAtOnce: true })
}

beforeEach(async () => {
  const nodes = new Nodes({ store: new MemoryNodeStore(), hash: sha256 })
  tree = new Changes(new TreeView(nodes, await storeNewTree(nodes)))
})

describe('trees', () => {
  /** Older versions let trees become as deep as this; the stack of calls does not reach so far. */
  const levels = 20_000

  it('a tree deeper than the stack of calls is removed', () => {
    let parent = create(rootIno, 'top', 'directory')
    for (let depth = 1; depth < levels; depth++) parent = create(parent, 'd', 'directory')
    create(parent, 'file', 'file')
    const change = edit()
    runAtOnce(remove(change, '/top', true))
    expect(change.ops).toHaveLength(2 * levels + 2)
    expect(change.view.child(rootIno, 'top' as Name)).toBeUndefined()
  })

  it.each([
    ['removal', (change: TreeEdit) => remove(change, '/top', true)],
    ['copy', (change: TreeEdit) => copy(change, '/top', '/copy', false)],
  ])('a %s too large for one batch is refused before all of it is decided', (_, begin) => {
    const directory = create(rootIno, 'top', 'directory')
    const files = 30_000
    for (let i = 0; i < files; i++) create(directory, `${i}`.padStart(200, '0'), 'file')
    const change = edit()
    expect(() => runAtOnce(begin(change))).toThrow('at once')
    expect(change.ops.length).toBeLessThan(2 * files * 0.8)
  })
})
