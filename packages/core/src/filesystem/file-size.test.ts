import { type Ino, type Name, rootIno } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { MemoryStores } from '../../test/ports.ts'
import { storeNewTree } from '../history/new-tree.ts'
import { applyOp } from './apply.ts'
import { Changes } from './changes.ts'
import { largestFileBytes } from './file-size.ts'
import { applyNewOp } from './new-op.ts'
import type { Op } from './op.ts'
import { TreeView } from './tree-view.ts'

const time = { sec: 0, nsec: 0 }
const common = { time, ino: 2 as Ino, dropPrivileges: false as const }
const data = { type: 'bytes' as const, bytes: new Uint8Array(1) }
const largest = largestFileBytes
let tree: Changes

beforeEach(async () => {
  const stores = new MemoryStores()
  tree = new Changes(new TreeView(stores.nodes, await storeNewTree(stores.nodes)))
  const place = { parent: rootIno, name: 'f' as Name, ino: 2 as Ino }
  const attributes = { mode: 0o644, uid: 0, gid: 0, rdev: 0, target: undefined }
  applyOp(tree, { type: 'create', time, kind: 'file', ...place, ...attributes })
})

const setSize = (size: number): Op => ({ type: 'setattr', time, ino: 2 as Ino, size })
const writeAt = (offset: number): Op => ({ type: 'write', offset, data, ...common })

describe('the largest file', () => {
  it('every operation that makes a file larger ends there', () => {
    applyNewOp(tree, setSize(largest))
    const tooLarge: Record<string, Op> = {
      write: writeAt(largest),
      append: { type: 'append', data, ...common },
      setattr: setSize(largest + 1),
      fallocate: { type: 'fallocate', offset: largest, length: 1, mode: 'allocate', ...common },
      punch: { type: 'fallocate', offset: largest, length: 1, mode: 'punch', ...common },
      copy: { type: 'copy', from: 2 as Ino, fromOffset: 0, offset: largest, length: 1, ...common },
    }
    for (const [name, op] of Object.entries(tooLarge))
      expect(() => applyNewOp(new Changes(tree), op), name).toThrow('EFBIG')
    applyNewOp(tree, writeAt(largest - 1))
  })

  it('an older and larger file is changed and made smaller, and does not grow', () => {
    applyOp(tree, setSize(4 * largest))
    applyNewOp(tree, writeAt(4 * largest - 1))
    expect(() => applyNewOp(new Changes(tree), writeAt(4 * largest))).toThrow('EFBIG')
    applyNewOp(tree, setSize(2 * largest))
    expect(tree.inode(2 as Ino)?.size).toBe(2 * largest)
  })
})
