import { type Ino, type Name, rootIno } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { MemoryStores } from '../../test/ports.ts'
import { blockBytes } from '../content/block.ts'
import { fold } from '../history/fold.ts'
import { storeNewTree } from '../history/new-tree.ts'
import { applyOp } from './apply.ts'
import { Changes } from './changes.ts'
import type { Op } from './op.ts'
import { TreeView } from './tree-view.ts'
import { addUsage, growthOf, type Usage, usageOf } from './usage.ts'
import { runAtOnce } from '../tree/steps.ts'

const time = { sec: 0, nsec: 0 }
const stores = new MemoryStores()
const { nodes, blobs } = stores

function create(ino: number, kind: 'file' | 'directory' = 'file'): Op {
  const owner = { uid: 0, gid: 0, rdev: 0, target: undefined }
  const name = `f${ino}` as Name
  return {
    type: 'create',
    time,
    parent: rootIno,
    name,
    ino: ino as Ino,
    kind,
    mode: 0o644,
    ...owner,
  }
}

function write(ino: number, offset: number, length: number): Op {
  const data = { type: 'bytes', bytes: new Uint8Array(length).fill(7) } as const
  return { type: 'write', time, ino: ino as Ino, offset, data, dropPrivileges: false }
}

function unlink(ino: number): Op {
  return { type: 'unlink', time, parent: rootIno, name: `f${ino}` as Name }
}

/** What counts before and after each fold; one fold for each group of operations. */
async function countEach(
  ...groups: readonly (readonly Op[])[]
): Promise<readonly { readonly before: Usage; readonly after: Usage }[]> {
  let snapshot = await storeNewTree(nodes)
  const counted = []
  for (const ops of groups) {
    const view = new TreeView(nodes, snapshot)
    const changes = new Changes(view)
    const before = await nodes.read(() => {
      for (const op of ops) applyOp(changes, op)
      return addUsage(usageOf(nodes, snapshot), runAtOnce(growthOf(changes, view)))
    })
    ;({ snapshot } = await fold(nodes, blobs, snapshot, changes))
    const folded = snapshot
    counted.push({ before, after: await nodes.read(() => usageOf(nodes, folded)) })
  }
  return counted
}

describe('usage', () => {
  it('the usage of a new tree is zero', async () => {
    const nothing = { bytes: 0, files: 0 }
    expect(await countEach([])).toEqual([{ before: nothing, after: nothing }])
  })

  it('counts everything with a name once, and its bytes', async () => {
    const ops = [create(2), create(3, 'directory'), write(2, 0, 1000)]
    const link: Op = { type: 'link', time, ino: 2 as Ino, parent: 3 as Ino, name: 'x' as Name }
    const expected = { bytes: 1000, files: 2 }
    expect(await countEach([...ops, link])).toEqual([{ before: expected, after: expected }])
  })

  it('the usage of a tree does not count a file without a name, even while a client has it open', async () => {
    const [, { before, after }] = (await countEach(
      [create(2), write(2, 0, 1000)],
      [unlink(2)],
    )) as never as [unknown, { before: Usage; after: Usage }]
    expect({ before, after }).toEqual({
      before: { bytes: 0, files: 0 },
      after: { bytes: 0, files: 0 },
    })
  })

  it('counts a file that is written over once', async () => {
    const [, second] = await countEach(
      [create(2), write(2, 0, 3 * blockBytes)],
      [write(2, 0, blockBytes), write(2, blockBytes, 2 * blockBytes)],
    )
    expect(second).toEqual({
      before: { bytes: 3 * blockBytes, files: 1 },
      after: { bytes: 3 * blockBytes, files: 1 },
    })
  })

  it('a byte at the end of a block counts as the block it will be', async () => {
    const [only] = await countEach([create(2), write(2, 5 * blockBytes - 1, 1)])
    expect(only!.before).toEqual({ bytes: blockBytes, files: 1 })
    expect(only!.after).toEqual(only!.before)
  })

  it('never grows by a fold, whatever was written, cut and punched', async () => {
    const random = randomNumbers(7)
    const upTo = (end: number): number => Math.floor(random() * end)
    const change = (): Op => {
      const [ino, offset, length] = [2 as Ino, upTo(4 * blockBytes), 1 + upTo(blockBytes)]
      const kind = upTo(4)
      if (kind === 0) return { type: 'setattr', time, ino, size: offset }
      if (kind > 1) return write(2, offset, kind === 2 ? length : 1 + upTo(100))
      return { type: 'fallocate', time, ino, offset, length, mode: 'punch', dropPrivileges: false }
    }
    const groups = Array.from({ length: 200 }, () => Array.from({ length: 1 + upTo(6) }, change))
    for (const { before, after } of await countEach([create(2)], ...groups))
      expect(before.bytes).toBeGreaterThanOrEqual(after.bytes)
  })
})

/** The same each time. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647
}
