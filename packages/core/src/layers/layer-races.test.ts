import type { CheckpointId } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { failureOf, LayerBench } from '../../test/layer-bench.ts'
import type { Branch } from '../history/branch.ts'
import { placeSession } from '../history/session-ids.ts'
import { findBase, readLayer } from './base.ts'
import { commitLayer, type CommitOutcome, rebaseLayer } from './commit.ts'
import { makeCheckpoint, rollback } from './rollback.ts'

let bench: LayerBench
let target: Branch
let layer: Branch

beforeEach(async () => {
  bench = new LayerBench()
  target = await bench.main((t) => t.write('a', '0'))
  layer = await bench.layer(target, 'attempt', (t) => t.write('mine', '1'))
})

const commit = (): Promise<CommitOutcome> => commitLayer(bench.stores, bench.options(layer, target))
const rebase = async (): Promise<unknown> =>
  rebaseLayer(bench.stores, bench.options(await bench.reopen(layer), await bench.reopen(target)))

/** Runs `work` once, when a store is about to be asked the next time for what is meant. */
function before<Name extends string>(
  store: Record<Name, (...args: never[]) => Promise<unknown>>,
  method: Name,
  isMeant: (...args: never[]) => boolean,
  work: () => Promise<unknown>,
): void {
  const original = store[method].bind(store)
  store[method] = async (...args) => {
    if (!isMeant(...args)) return original(...args)
    store[method] = original
    await work()
    return original(...args)
  }
}

const isOf =
  ({ id }: Branch) =>
  (branch: string): boolean =>
    branch === id

describe('a rebase by another server while the layer is committed', () => {
  beforeEach(() => bench.edit(target, (t) => t.write('theirs', '1')))

  it('before the base is read: what others committed stays', async () => {
    // The commit has folded the layer by then: it asks whether this state was committed before.
    before(bench.stores.log, 'find', isOf(target), rebase)
    await commit()
    expect(await bench.list(target)).toEqual({ a: '0', mine: '1', theirs: '1' })
  })

  it('before the commit is in the log: what others committed stays', async () => {
    before(bench.stores.log, 'append', isOf(target), rebase)
    await commit()
    expect(await bench.list(target)).toEqual({ a: '0', mine: '1', theirs: '1' })
    await layer.refresh()
    const { base, point } = await readLayer(bench.stores, layer)
    expect(point.state).toBe('committed')
    expect(base.root).not.toBe(point.snapshot.root)
  })

  it('a commit of an earlier place that lands later does not take the base back', async () => {
    const at = await makeCheckpoint(bench.stores, layer, {
      id: 'early' as CheckpointId,
      label: '',
      time: { sec: 1, nsec: 0 },
    })
    await rebase()
    await layer.refresh()
    const { base } = await findBase(bench.stores, layer)
    const options = { ...bench.options(layer, target), at }
    expect(await failureOf(commitLayer(bench.stores, options))).toMatchObject({
      code: 'checkpoint_outdated',
    })
    expect((await findBase(bench.stores, layer)).base).toEqual(base)
  })
})

describe('a rollback by another server while the layer is committed', () => {
  const rollBack = async (): Promise<unknown> => {
    const other = await bench.reopen(layer)
    const { base: snapshot, baseSeq: seq } = await findBase(bench.stores, other)
    const id = 'base' as CheckpointId
    const checkpoint = { id, branch: layer.id, label: '', seq, snapshot, time: { sec: 1, nsec: 0 } }
    return rollback(bench.stores, other, bench.author(), checkpoint)
  }

  it('before the commit is noted: nothing is left to commit', async () => {
    before(bench.stores.log, 'find', isOf(target), rollBack)
    const { before: from, after } = await commit()
    expect(after).toEqual(from)
    expect(await bench.list(target)).toEqual({ a: '0' })
  })

  it('before the commit is in the log: the layer is not behind what it committed', async () => {
    before(bench.stores.log, 'append', isOf(target), rollBack)
    await commit()
    await layer.refresh()
    expect(await bench.list(layer)).toEqual(await bench.list(target))
  })
})

describe('a place that another server takes in the log of a layer while it is committed', () => {
  /** As one does that has to know whether a batch will come there. */
  const takePlace = async (): Promise<unknown> => {
    const other = await bench.reopen(layer)
    const author = { ...bench.author(), session: placeSession(layer.id), number: 1000 }
    return other.changeState(author, ({ state }) => state)
  }

  it('a place that another server takes in the log of a layer while it is committed is no work that came late: the layer is closed', async () => {
    before(bench.stores.log, 'append', isOf(target), takePlace)
    await commit()
    await layer.refresh()
    expect(layer.head.position.state).toBe('committed')
  })

  it('a place that another server takes in the log of a layer while it is committed does not hide a conflict', async () => {
    await bench.edit(layer, (t) => t.write('a', 'mine'))
    await bench.edit(target, (t) => t.write('a', 'theirs'))
    before(bench.stores.nodes, 'read', () => true, takePlace)
    expect(await failureOf(commit())).toMatchObject({ code: 'layer_conflict' })
    await layer.refresh()
    expect(layer.head.position.state).toBe('conflicted')
  })

  it('a commit beside late work leaves the layer open', async () => {
    before(bench.stores.log, 'append', isOf(target), async () => {
      await takePlace()
      await bench.edit(await bench.reopen(layer), (t) => t.write('mine', '2'))
    })
    await commit()
    await layer.refresh()
    expect(layer.head.position.state).toBe('open')
  })
})

describe('a commit by another server', () => {
  /** The other server's. The layer is written to again before it is closed, so it stays open. */
  const commitAndWrite = async (): Promise<unknown> => {
    const [mine, theirs] = [await bench.reopen(layer), await bench.reopen(target)]
    before(bench.stores.refs, 'getBranch', isOf(layer), async () =>
      bench.edit(await bench.reopen(layer), (t) => t.write('mine', '2')),
    )
    return commitLayer(bench.stores, bench.options(mine, theirs))
  }

  it.each([0, 1])(
    'while a rebase has read the base %i times: the layer is in no conflict with its own work',
    async (times) => {
      let left = times
      const isDue = (branch: string): boolean => branch === layer.id && left-- === 0
      before(bench.stores.refs, 'getBranch', isDue, commitAndWrite)
      await rebaseLayer(bench.stores, bench.options(layer, target))
      expect(await bench.list(layer)).toEqual({ a: '0', mine: '2' })
    },
  )

  it('a commit of a later state includes the earlier one', async () => {
    before(bench.stores.log, 'append', isOf(target), commitAndCommit)
    await commit()
    expect(await bench.list(target)).toEqual({ a: '0', mine: '2' })
  })

  it('a commit of a later state after a cut before the layer was closed gets the same receipt', async () => {
    const at = await layer.fold()
    const options = { ...bench.options(layer, target), at }
    before(bench.stores.log, 'append', isOf(layer), () => Promise.reject(new Error('cut')))
    expect(await failureOf(commitLayer(bench.stores, options))).toMatchObject({ message: 'cut' })
    await commitAndCommit()
    expect(await commitLayer(bench.stores, options)).toMatchObject({ seq: 2 })
    expect([layer.head.position.state, await bench.list(await bench.reopen(target))]).toEqual([
      'committed',
      { a: '0', mine: '2' },
    ])
  })

  async function commitAndCommit(): Promise<void> {
    await bench.edit(await bench.reopen(layer), (t) => t.write('mine', '2'))
    const [mine, theirs] = [await bench.reopen(layer), await bench.reopen(target)]
    await commitLayer(bench.stores, bench.options(mine, theirs))
  }
})
