import type { CheckpointId } from '@cairn/protocol'
import { beforeEach, expect, it } from 'vitest'
import { LayerBench } from '../../test/layer-bench.ts'
import { contentWorker, sha256 } from '../../test/ports.ts'
import { Blobs } from '../content/blobs.ts'
import { commitLayer, rebaseLayer } from '../layers/commit.ts'
import { makeCheckpoint, rollback } from '../layers/rollback.ts'
import { Nodes } from '../tree/nodes.ts'
import { findLostBatches, type LostBatches } from './check-replay.ts'
import type { Branch } from './branch.ts'
import { ScratchStore } from './scratch-store.ts'
import { trimLog } from './trim-log.ts'

let bench: LayerBench
let main: Branch

beforeEach(async () => {
  bench = new LayerBench()
  main = await bench.main((t) => t.write('a', '0'))
})

async function lost({ id }: Branch): Promise<LostBatches[]> {
  const { nodeStore, blobStore, log, refs } = bench.stores
  const nodes = new Nodes({ store: new ScratchStore(nodeStore), hash: sha256 })
  const blobs = new Blobs(new ScratchStore(blobStore), contentWorker)
  const found: LostBatches[] = []
  for await (const each of findLostBatches({ nodes, blobs, log, refs }, id)) found.push(each)
  return found
}

const checkpoint = (branch: Branch, id: string): ReturnType<typeof makeCheckpoint> =>
  makeCheckpoint(bench.stores, branch, {
    id: id as CheckpointId,
    label: '',
    time: { sec: 1, nsec: 0 },
  })

it('finds nothing after folds, checkpoints, commits, rebases and rollbacks', async () => {
  const layer = await bench.layer(main, 'attempt', (t) => t.write('mine', 'x'.repeat(5000)))
  const made = await checkpoint(layer, 'c')
  await bench.edit(layer, (t) => t.write('mine', 'y'.repeat(300)).write('more', '2'))
  await rollback(bench.stores, layer, bench.author(), made)
  await bench.edit(main, (t) => t.write('theirs', '1'))
  await rebaseLayer(bench.stores, bench.options(layer, main))
  await bench.edit(layer, (t) => t.remove('mine'))
  await commitLayer(bench.stores, bench.options(layer, main))
  await bench.edit(main, (t) => t.remove('a'))
  await main.fold()
  await bench.edit(main, (t) => t.write('b', '3'))
  for (const branch of [main, layer]) {
    expect(await lost(branch)).toEqual([])
    await trimLog(bench.stores, branch.id)
    expect(await lost(branch)).toEqual([])
  }
})

it('finds nothing where a trimmed row names bytes that end in zeros', async () => {
  const bytes = new Uint8Array(100_000).fill(1)
  await bench.edit(main, (t) => t.write('b', bytes.fill(0, 99_000)))
  await main.fold()
  await trimLog(bench.stores, main.id)
  expect(await lost(main)).toEqual([])
})

it('finds a batch that the newest fold passes over', async () => {
  const before = await main.fold()
  await bench.edit(main, (t) => t.write('gone', '1'))
  const { refs } = bench.stores
  const record = await refs.getBranch(main.id)
  const folded = { ...main.head.position, snapshot: before.snapshot }
  await refs.updateBranch({ ...record, folded, version: record.version + 1 })
  expect(await bench.list(await bench.reopen(main))).toEqual({ a: '0' })
  expect(await lost(main)).toEqual([{ first: 1, last: 2, point: 'the newest fold' }])
})

it('finds a batch that a checkpoint lacks', async () => {
  const { snapshot } = await main.fold()
  await bench.edit(main, (t) => t.write('gone', '1'))
  const made = await checkpoint(main, 'c')
  await bench.stores.refs.putCheckpoint({ ...made, id: 'd' as CheckpointId, snapshot })
  expect(await lost(main)).toMatchObject([{ last: 2, point: 'checkpoint d' }])
})

it('writes nothing', async () => {
  await bench.edit(main, (t) => t.write('b', 'x'.repeat(5000)))
  const size = (): number => bench.stores.nodeStore.nodes.size + bench.stores.blobStore.blobs.size
  await checkpoint(main, 'c')
  const before = size()
  await lost(main)
  expect(size()).toBe(before)
})
