import { type Ino, type Name, rootIno } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { MemoryStores } from '../../test/ports.ts'
import { blockBytes } from '../content/block.ts'
import { readFile } from '../filesystem/read-file.ts'
import { applyOp } from '../filesystem/apply.ts'
import { Changes } from '../filesystem/changes.ts'
import type { Op } from '../filesystem/op.ts'
import { TreeView } from '../filesystem/tree-view.ts'
import type { Snapshot } from '../ports/records.ts'
import { fold } from './fold.ts'
import { storeNewTree } from './new-tree.ts'

const time = { sec: 0, nsec: 0 }
const file = 2 as Ino
const stores = new MemoryStores()

const create: Op = {
  type: 'create',
  time,
  parent: rootIno,
  name: 'f' as Name,
  ino: file,
  kind: 'file',
  mode: 0o644,
  uid: 0,
  gid: 0,
  rdev: 0,
  target: undefined,
}

function write(bytes: Uint8Array): Op {
  const data = { type: 'bytes', bytes } as const
  return { type: 'write', time, ino: file, offset: 0, data, dropPrivileges: false }
}

function resize(size: number): Op {
  return { type: 'setattr', time, ino: file, size }
}

/** One fold for each group of operations. */
async function foldEach(...groups: readonly Op[][]): Promise<Snapshot> {
  let snapshot = await storeNewTree(stores.nodes)
  for (const ops of groups) {
    const changes = new Changes(new TreeView(stores.nodes, snapshot))
    await stores.nodes.read(() => ops.forEach((op) => applyOp(changes, op)))
    ;({ snapshot } = await fold(stores.nodes, stores.blobs, snapshot, changes))
  }
  return snapshot
}

describe('fold', () => {
  it.each([0, 3, blockBytes, blockBytes + 3])(
    'a folded file cut to %i bytes and folded again: as if it had never been longer',
    async (size) => {
      const long = new Uint8Array(3 * blockBytes).fill(1)
      const cut = await foldEach([create, write(long)], [resize(size)])
      const short = await foldEach([create, write(long.subarray(0, size)), resize(size)])
      expect(cut).toEqual(short)
    },
  )

  it('a folded file cut, folded and grown again: the old bytes do not come back', async () => {
    const bytes = Uint8Array.of(1, 2, 3, 4)
    const snapshot = await foldEach([create, write(bytes)], [resize(2)], [resize(4)])
    const view = new TreeView(stores.nodes, snapshot)
    const inode = await stores.nodes.read(() => view.inode(file))
    const read = await readFile(stores.nodes, stores.blobs, view, file, inode!)
    expect([...read]).toEqual([1, 2, 0, 0])
  })
})
