import { type Ino, type Name, rootIno } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { BranchFixture } from '../../test/branch-fixture.ts'
import { MemoryStores } from '../../test/ports.ts'
import { applyOp } from '../filesystem/apply.ts'
import { Changes } from '../filesystem/changes.ts'
import type { CreateOp } from '../filesystem/op.ts'
import { TreeView } from '../filesystem/tree-view.ts'
import type { Snapshot } from '../ports/records.ts'
import { fold } from '../history/fold.ts'
import { storeNewTree } from '../history/new-tree.ts'
import { merge } from './merge.ts'
import { diffPaths } from './path-changes.ts'

/** More than the stack of calls holds. Older servers took trees this deep. */
const levels = 15_000

const stores = new MemoryStores()
const { nodes, blobs } = stores
const fixture = new BranchFixture()

async function put(from: Snapshot, ops: readonly CreateOp[]): Promise<Snapshot> {
  const changes = new Changes(new TreeView(nodes, from))
  for (const op of ops) applyOp(changes, op)
  return (await fold(nodes, blobs, from, changes)).snapshot
}

function chain(): readonly CreateOp[] {
  const ops: CreateOp[] = []
  let parent: Ino = rootIno
  for (let level = 0; level < levels; level++) {
    ops.push(fixture.create('d', parent))
    parent = ops.at(-1)!.ino
  }
  return ops
}

describe('a tree deeper than the stack of calls', () => {
  it('a tree deeper than the stack of calls is compared', async () => {
    const directories = chain()
    const before = await put(await storeNewTree(nodes), directories)
    const after = await put(before, [fixture.create('new', directories.at(-1)!.ino)])
    const [change, ...more] = await diffPaths(nodes, before, after)
    expect(more).toEqual([])
    expect([change?.kind, change?.path.length, change?.path.at(-1)]).toEqual([
      'added',
      levels + 1,
      'new' as Name,
    ])
  })

  it('a tree deeper than the stack of calls is merged when both sides made it', async () => {
    const base = await storeNewTree(nodes)
    const layer = await put(base, chain())
    const target = await put(base, chain())
    const merged = await merge({ base, layer, target, nodes, blobs })
    expect(merged).toMatchObject({ type: 'merged', snapshot: { root: target.root } })
  })
})
