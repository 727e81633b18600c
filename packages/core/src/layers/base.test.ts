import { type CheckpointId, isCairnError } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { failureOf, LayerBench } from '../../test/layer-bench.ts'
import { decodeBatch } from '../history/batch.ts'
import type { Branch } from '../history/branch.ts'
import { Reach } from '../history/reach.ts'
import type { BranchRecord } from '../ports/ref-store.ts'
import { findBase } from './base.ts'
import { commitLayer, type CommitOutcome, rebaseLayer } from './commit.ts'
import { makeCheckpoint, rollback, undoRollback } from './rollback.ts'

let bench: LayerBench
let target: Branch
let layer: Branch

beforeEach(async () => {
  bench = new LayerBench()
  target = await bench.main((t) => t.write('a', '0'))
  layer = await bench.layer(target, 'attempt', (t) => t.write('mine', '1'))
})

/** The power goes before the layer's record says where it has come to stand. */
function cutRecord(isMeant: (record: BranchRecord) => boolean): void {
  const { refs } = bench.stores
  const updateBranch = refs.updateBranch.bind(refs)
  refs.updateBranch = async (record) => {
    if (record.id !== layer.id || !isMeant(record)) return updateBranch(record)
    refs.updateBranch = updateBranch
    throw new Error('the power went')
  }
}

/** The power goes before a batch of that kind comes into the log. */
function cutLog(branch: Branch, type: 'root' | 'state'): void {
  const { log } = bench.stores
  const append = log.append.bind(log)
  log.append = async (id, rows) => {
    const isMeant = rows.some(({ bytes }) => decodeBatch(bytes).body.type === type)
    if (id !== branch.id || !isMeant) return append(id, rows)
    log.append = append
    throw new Error('the power went')
  }
}

const commit = (on = layer): Promise<CommitOutcome> =>
  commitLayer(bench.stores, bench.options(on, target))
const rebase = (on = layer): Promise<unknown> =>
  rebaseLayer(bench.stores, bench.options(on, target))
const checkpoint = (id: string): ReturnType<typeof makeCheckpoint> =>
  makeCheckpoint(bench.stores, layer, {
    id: id as CheckpointId,
    label: id,
    time: { sec: 1, nsec: 0 },
  })

describe('a rebase that was cut', () => {
  beforeEach(() => bench.edit(target, (t) => t.write('theirs', '1')))

  it('after its batch: what the parent takes away again does not come back', async () => {
    const { root } = (await target.fold()).snapshot
    cutRecord(({ base }) => base.root === root)
    expect((await failureOf(rebase())).message).toBe('the power went')
    layer = await bench.reopen(layer)
    expect(await bench.list(layer)).toEqual({ a: '0', mine: '1', theirs: '1' })
    expect((await findBase(bench.stores, layer)).base.root).toBe(root)
    await bench.edit(target, (t) => t.remove('theirs'))
    expect(await bench.changed(await commit())).toEqual(['added mine'])
    expect(await bench.list(target)).toEqual({ a: '0', mine: '1' })
  })

  it('after its batch, and done again: it stands on the newer parent', async () => {
    const { root } = (await target.fold()).snapshot
    cutRecord(({ base }) => base.root === root)
    await failureOf(rebase())
    await bench.edit(target, (t) => t.remove('theirs'))
    await rebase()
    expect(await bench.list(layer)).toEqual({ a: '0', mine: '1' })
  })

  it('before its batch: the layer stands where it stood, and is rebased again', async () => {
    const before = await findBase(bench.stores, layer)
    cutLog(layer, 'root')
    await failureOf(rebase())
    layer = await bench.reopen(layer)
    expect((await findBase(bench.stores, layer)).base).toEqual(before.base)
    await bench.edit(target, (t) => t.write('more', '1'))
    await rebase()
    expect(await bench.list(layer)).toEqual({ a: '0', mine: '1', theirs: '1', more: '1' })
    expect((await bench.stores.refs.getBranch(layer.id)).next).toEqual([])
  })

  it('before its batch, and written to: the layer stands where it stood', async () => {
    cutLog(layer, 'root')
    await failureOf(rebase())
    await bench.edit(layer, (t) => t.write('mine', '2'))
    await bench.edit(target, (t) => t.remove('theirs'))
    await commit()
    expect(await bench.list(target)).toEqual({ a: '0', mine: '2' })
  })

  it('what it was to stand on is not collected', async () => {
    const { root } = (await target.fold()).snapshot
    cutRecord(({ base }) => base.root === root)
    await failureOf(rebase())
    const reach = new Reach(bench.stores)
    await reach.addBranch(layer.id, () => false)
    expect(reach.nodes.has(root)).toBe(true)
  })

  it('two at once, between which the parent went on: the base is of the one that came first', async () => {
    const other = await bench.reopen(layer)
    const append = bench.stores.log.append.bind(bench.stores.log)
    let isSecond = false
    bench.stores.log.append = async (id, rows) => {
      if (id === layer.id && !isSecond) {
        isSecond = true
        await bench.edit(target, (t) => t.remove('theirs').write('more', '1'))
        await rebase(other)
      }
      return append(id, rows)
    }
    await rebase()
    await commit()
    expect(await bench.list(target)).toEqual({ a: '0', mine: '1', more: '1' })
  })
})

describe('a commit that was cut', () => {
  it('before the layer was closed, and written to: what the parent takes away again does not come back', async () => {
    cutLog(layer, 'state')
    await failureOf(commit())
    layer = await bench.reopen(layer)
    await bench.edit(layer, (t) => t.write('later', '1'))
    await bench.edit(target, (t) => t.remove('mine'))
    expect(await bench.changed(await commit())).toEqual(['added later'])
    expect(await bench.list(target)).toEqual({ a: '0', later: '1' })
    expect(layer.head.position.state).toBe('committed')
  })

  it('before its base had moved: the same', async () => {
    const changeState = layer.changeState.bind(layer)
    layer.changeState = async (...args) => {
      layer.changeState = changeState
      await bench.edit(layer, (t) => t.write('late', '1'))
      return changeState(...args)
    }
    cutRecord(({ baseSeq }) => baseSeq !== 0)
    expect((await failureOf(commit())).message).toBe('the power went')
    await bench.edit(target, (t) => t.remove('mine'))
    expect(await bench.changed(await commit())).toEqual(['added late'])
    expect(await bench.list(target)).toEqual({ a: '0', late: '1' })
  })

  it('before the layer was closed, and asked for again after a lease was given: the same receipt', async () => {
    cutLog(layer, 'state')
    await failureOf(commit())
    const { seq } = target.head.position
    await layer.raiseEpoch(bench.author())
    const receipt = await commit()
    expect([receipt.seq, await bench.changed(receipt)]).toEqual([seq, ['added mine']])
    expect([target.head.position.seq, layer.head.position.state]).toEqual([seq, 'committed'])
  })

  it('before its batch: nothing has happened, and it is done when asked for again', async () => {
    cutLog(target, 'root')
    await failureOf(commit())
    expect(await bench.list(target)).toEqual({ a: '0' })
    await bench.edit(target, (t) => t.write('theirs', '1'))
    expect(await bench.changed(await commit())).toEqual(['added mine'])
  })

  it('a layer that was closed is told by what it was when it was committed', async () => {
    const { base } = await findBase(bench.stores, layer)
    await commit()
    expect((await findBase(bench.stores, await bench.reopen(layer))).base).toEqual(base)
  })
})

describe('behind what was committed', () => {
  it('a layer is not rolled back: its next commit would take its own work out of the parent', async () => {
    const early = await checkpoint('early')
    await bench.edit(layer, (t) => t.write('more', '1'))
    const passed = await checkpoint('passed')
    await bench.edit(layer, (t) => t.write('late', '1'))
    await commitLayer(bench.stores, { ...bench.options(layer, target), at: passed })
    const refused = await failureOf(rollback(bench.stores, layer, bench.author(), early))
    expect(isCairnError(refused, 'checkpoint_outdated')).toBe(true)
    const again = { ...bench.options(layer, target), at: early }
    expect(
      isCairnError(await failureOf(commitLayer(bench.stores, again)), 'checkpoint_outdated'),
    ).toBe(true)
    await rollback(bench.stores, layer, bench.author(), passed)
    await commit()
    expect(await bench.list(target)).toEqual({ a: '0', mine: '1', more: '1' })
  })

  it('a rollback is not undone, although the layer was not closed', async () => {
    await bench.edit(layer, (t) => t.write('more', '1'))
    const more = await checkpoint('more')
    await bench.edit(layer, (t) => t.remove('more'))
    await rollback(bench.stores, layer, bench.author(), more)
    cutLog(layer, 'state')
    await failureOf(commit())
    expect(layer.head.position.state).toBe('open')
    const refused = await failureOf(undoRollback(bench.stores, layer, bench.author()))
    expect(isCairnError(refused, 'checkpoint_outdated')).toBe(true)
  })

  it('a receipt is given again, also after a later commit', async () => {
    const passed = await checkpoint('passed')
    await bench.edit(layer, (t) => t.write('late', '1'))
    const options = { ...bench.options(layer, target), at: passed }
    const receipt = await commitLayer(bench.stores, options)
    const late = await checkpoint('late')
    await bench.edit(layer, (t) => t.write('last', '1'))
    await commitLayer(bench.stores, { ...bench.options(layer, target), at: late })
    expect(await commitLayer(bench.stores, options)).toEqual(receipt)
    expect(await bench.changed(await commit())).toEqual(['added last'])
  })
})
