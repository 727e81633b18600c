import { FsError, type Ino, type Name, rootIno } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { sha256 } from '../../test/ports.ts'
import { storeNewTree } from '../history/new-tree.ts'
import { MemoryNodeStore } from '../testing/memory-node-store.ts'
import { Nodes } from '../tree/nodes.ts'
import { applyOp } from './apply.ts'
import { Changes } from './changes.ts'
import { levelsMax } from './depth.ts'
import { applyNewOp, takeNewOp } from './new-op.ts'
import type { Op } from './op.ts'
import { TreeView } from './tree-view.ts'
import type { View } from './view.ts'
import { runAtOnce } from '../tree/steps.ts'

const time = { sec: 1, nsec: 0 }
const owner = { mode: 0o755, uid: 0, gid: 0, rdev: 0, target: undefined }
let empty: View
let tree: Changes
let lastIno: number

function create(
  parent: Ino,
  name: string,
  kind: 'file' | 'directory' = 'directory',
): Op & { ino: Ino } {
  const ino = ++lastIno as Ino
  return { type: 'create', time, parent, name: name as Name, ino, kind, ...owner }
}

/** Gives the last directory of a new chain in the root. */
function chain(name: string, levels: number): Ino {
  let parent = rootIno
  for (let level = 0; level < levels; level++) {
    const op = create(parent, level === 0 ? name : 'd')
    applyOp(tree, op)
    parent = op.ino
  }
  return parent
}

function rename(parent: Ino, name: string, newParent: Ino, newName: string, mode = 'replace'): Op {
  const names = { parent, name: name as Name, newParent, newName: newName as Name }
  return { type: 'rename', time, ...names, mode: mode as 'replace' }
}

/** What the server answers. */
function answer(op: Op): string {
  try {
    runAtOnce(takeNewOp(new Changes(tree), op))
    return 'done'
  } catch (error) {
    if (error instanceof FsError) return error.code
    throw error
  }
}

beforeEach(async () => {
  const nodes = new Nodes({ store: new MemoryNodeStore(), hash: sha256 })
  empty = new TreeView(nodes, await storeNewTree(nodes))
  tree = new Changes(empty)
  lastIno = 1
})

describe('depth of directories', () => {
  it('a directory at the last level is made, one below it is not, a file is', () => {
    const last = chain('a', levelsMax - 1)
    const op = create(last, 'd')
    expect(answer(op)).toBe('done')
    applyOp(tree, op)
    expect(answer(create(op.ino, 'd'))).toBe('ENAMETOOLONG')
    expect(answer(create(op.ino, 'f', 'file'))).toBe('done')
  })

  it('an error of the file system comes first', () => {
    const last = chain('a', levelsMax)
    applyOp(tree, create(last, 'd', 'file'))
    expect(answer(create(last, 'd'))).toBe('EEXIST')
  })

  it('a tree is moved as far down as its deepest directory may stand', () => {
    chain('a', 400)
    const at600 = chain('b', 600)
    const at601 = chain('c', 601)
    expect(answer(rename(rootIno, 'a', at600, 'a'))).toBe('done')
    expect(answer(rename(rootIno, 'a', at601, 'a'))).toBe('ENAMETOOLONG')
  })

  it('files below a moved directory do not count', () => {
    applyOp(tree, create(chain('a', 400), 'f', 'file'))
    expect(answer(rename(rootIno, 'a', chain('b', 600), 'a'))).toBe('done')
  })

  it('both sides of an exchange count', () => {
    const at600 = chain('b', 600)
    applyOp(tree, create(at600, 'other'))
    chain('a', 401)
    expect(answer(rename(rootIno, 'a', at600, 'other', 'exchange'))).toBe('ENAMETOOLONG')
    expect(answer(rename(at600, 'other', rootIno, 'a', 'exchange'))).toBe('ENAMETOOLONG')
  })

  it('a file that is too deep already can be moved up, sideways and removed', () => {
    const last = chain('a', levelsMax + 10)
    const op = create(last, 'd')
    applyOp(tree, op)
    expect(answer(rename(last, 'd', last, 'e'))).toBe('done')
    expect(answer(rename(last, 'd', rootIno, 'e'))).toBe('done')
    expect(answer({ type: 'rmdir', time, parent: last, name: 'd' as Name })).toBe('done')
  })

  it('a batch that is in the log is applied whatever its depth', () => {
    const last = chain('a', levelsMax + 10)
    expect(() => applyNewOp(new Changes(tree), create(last, 'd'))).toThrow('ENAMETOOLONG')
    applyOp(tree, create(last, 'd'))
    expect(tree.child(last, 'd' as Name)).toBeDefined()
  })
})
