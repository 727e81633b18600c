import { type CheckpointId, isCairnError } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { failureOf, LayerBench } from '../../test/layer-bench.ts'
import { decodeBatch } from '../history/batch.ts'
import type { Branch } from '../history/branch.ts'
import { commitLayer, type CommitOutcome, rebaseLayer, resolveConflict } from './commit.ts'
import { abandonLayer, reopenLayer } from './layer-state.ts'

describe('commit', () => {
  it('what only the layer changed arrives, what only the target changed stays', async () => {
    const bench = new LayerBench()
    const target = await bench.main((t) => t.write('a', 'base a').write('b', 'base b'))
    const layer = await bench.layer(target, 'attempt', (t) =>
      t.write('a', 'layer a').write('new', 'new'),
    )
    await bench.edit(target, (t) => t.write('b', 'target b'))
    const receipt = await commitLayer(bench.stores, bench.options(layer, target))
    expect(await bench.list(target)).toEqual({ a: 'layer a', b: 'target b', new: 'new' })
    expect(await bench.changed(receipt)).toEqual(['modified a', 'added new'])
    expect(layer.head.position.state).toBe('committed')
  })

  it('the receipt names the trees before and after, and the place in the log', async () => {
    const bench = new LayerBench()
    const target = await bench.main((t) => t.write('a', '1'))
    const before = (await target.fold()).snapshot
    const layer = await bench.layer(target, 'attempt', (t) => t.write('a', '2'))
    const options = { ...bench.options(layer, target), message: 'because' }
    const receipt = await commitLayer(bench.stores, options)
    const after = (await target.fold()).snapshot
    expect(receipt).toMatchObject({ seq: 2, before, after })
    const [row] = await bench.stores.log.read(target.id, receipt.seq - 1, 1)
    expect(decodeBatch(row!.bytes)).toMatchObject({
      actor: 'tester',
      time: options.author.time,
      body: {
        type: 'root',
        change: { cause: 'commit', subject: 'attempt', message: 'because', before, after },
      },
    })
  })

  it('a repeated commit gets the same receipt, also in another process and after later commits to the target', async () => {
    const bench = new LayerBench()
    const target = await bench.main((t) => t.write('a', '1'))
    const layer = await bench.layer(target, 'attempt', (t) => t.write('a', '2'))
    const receipt = await commitLayer(bench.stores, bench.options(layer, target))
    expect(await commitLayer(bench.stores, bench.options(layer, target))).toEqual(receipt)
    await bench.edit(target, (t) => t.write('a', '3'))
    const [layerAgain, targetAgain] = [await bench.reopen(layer), await bench.reopen(target)]
    // The server may raise the epoch of any branch.
    await layerAgain.raiseEpoch(bench.author())
    const again = await commitLayer(bench.stores, bench.options(layerAgain, targetAgain))
    expect(again).toEqual(receipt)
    expect(await bench.list(target)).toEqual({ a: '3' })
  })

  it('a commit of a checkpoint takes the layer as it was; later changes make the next commit', async () => {
    const bench = new LayerBench()
    const target = await bench.main((t) => t.write('a', '1'))
    const layer = await bench.layer(target, 'attempt', (t) => t.write('a', '2'))
    const { seq, snapshot } = await layer.fold()
    const at = { id: 'pass' as CheckpointId, seq, snapshot }
    await bench.edit(layer, (t) => t.write('b', 'later'))
    await commitLayer(bench.stores, { ...bench.options(layer, target), at })
    expect(await bench.list(target)).toEqual({ a: '2' })
    expect(layer.head.position.state).toBe('open')
    const receipt = await commitLayer(bench.stores, bench.options(layer, target))
    expect(await bench.changed(receipt)).toEqual(['added b'])
    expect(layer.head.position.state).toBe('committed')
  })

  it('a commit of a checkpoint from before a rebase is refused', async () => {
    const bench = new LayerBench()
    const target = await bench.main((t) => t.write('a', '1'))
    const layer = await bench.layer(target, 'attempt', (t) => t.write('b', '1'))
    const { seq, snapshot } = await layer.fold()
    await bench.edit(target, (t) => t.write('a', '2'))
    await rebaseLayer(bench.stores, bench.options(layer, target))
    const at = { id: 'old' as CheckpointId, seq, snapshot }
    const refused = await failureOf(
      commitLayer(bench.stores, { ...bench.options(layer, target), at }),
    )
    expect(isCairnError(refused, 'checkpoint_outdated')).toBe(true)
    expect(await bench.list(target)).toEqual({ a: '2' })
  })

  it('twice at once it happens once', async () => {
    const bench = new LayerBench()
    const target = await bench.main()
    const layer = await bench.layer(target, 'attempt', (t) => t.write('a', '1'))
    const [one, other] = await Promise.all([
      commitLayer(bench.stores, bench.options(layer, target)),
      commitLayer(bench.stores, bench.options(layer, target)),
    ])
    expect(other).toEqual(one)
    expect(target.head.position.seq).toBe(one.seq)
  })

  it('a crash before the layer was closed: asking again closes it with the same receipt', async () => {
    const bench = new LayerBench()
    const target = await bench.main()
    const layer = await bench.layer(target, 'attempt', (t) => t.write('a', '1'))
    const options = bench.options(layer, target)
    const changeState = layer.changeState.bind(layer)
    layer.changeState = () => Promise.reject(new Error('the power went'))
    await failureOf(commitLayer(bench.stores, options))
    layer.changeState = changeState
    expect(layer.head.position.state).toBe('open')
    const { seq } = target.head.position
    const receipt = await commitLayer(bench.stores, bench.options(layer, target))
    expect([receipt.seq, target.head.position.seq]).toEqual([seq, seq])
    expect(layer.head.position.state).toBe('committed')
  })

  it('over a parent that has not changed, the result is the tree of the layer', async () => {
    const bench = new LayerBench()
    const target = await bench.main((t) => t.write('a', '1').write('b', '1'))
    const layer = await bench.layer(target, 'attempt', (t) => t.write('a', '2').write('c', '1'))
    const { root } = (await layer.fold()).snapshot
    const receipt = await commitLayer(bench.stores, bench.options(layer, target))
    expect(receipt.after.root).toBe(root)
    expect(await bench.changed(receipt)).toEqual(['modified a', 'added c'])
    expect(await bench.list(target)).toEqual(await bench.list(layer))
  })

  it('a layer without changes leaves the tree as it is', async () => {
    const bench = new LayerBench()
    const target = await bench.main((t) => t.write('a', '1'))
    const layer = await bench.layer(target, 'attempt')
    await bench.edit(target, (t) => t.write('a', '2'))
    const receipt = await commitLayer(bench.stores, bench.options(layer, target))
    expect(receipt.after).toEqual(receipt.before)
  })

  it('two layers of one base, one after the other: both are there', async () => {
    const bench = new LayerBench()
    const target = await bench.main((t) => t.mkdir('d'))
    const one = await bench.layer(target, 'one', (t) => t.write('d/one', '1'))
    const other = await bench.layer(target, 'other', (t) => t.write('d/other', '2'))
    await commitLayer(bench.stores, bench.options(one, target))
    await commitLayer(bench.stores, bench.options(other, target))
    expect(await bench.list(target)).toEqual({ d: 'directory', 'd/one': '1', 'd/other': '2' })
  })

  it('two layers at once that changed one file: one is taken, the other is in conflict with it', async () => {
    const bench = new LayerBench()
    const target = await bench.main((t) => t.write('a', '0'))
    const one = await bench.layer(target, 'one', (t) => t.write('a', '1'))
    const other = await bench.layer(target, 'other', (t) => t.write('a', '2'))
    const [first, second] = await Promise.allSettled([
      commitLayer(bench.stores, bench.options(one, target)),
      commitLayer(bench.stores, bench.options(other, target)),
    ])
    expect([first.status, second.status]).toEqual(['fulfilled', 'rejected'])
    expect(await bench.list(target)).toEqual({ a: '1' })
    expect(other.head.position.state).toBe('conflicted')
  })

  it('lines are merged if the options say so', async () => {
    const bench = new LayerBench()
    const target = await bench.main((t) => t.write('a', '1\n2\n3\n'))
    const layer = await bench.layer(target, 'attempt', (t) => t.write('a', 'one\n2\n3\n'))
    await bench.edit(target, (t) => t.write('a', '1\n2\nthree\n'))
    await commitLayer(bench.stores, { ...bench.options(layer, target), mergeText: true })
    expect(await bench.list(target)).toEqual({ a: 'one\n2\nthree\n' })
  })

  it('in another epoch than the target’s it is refused', async () => {
    const bench = new LayerBench()
    const target = await bench.main()
    const layer = await bench.layer(target, 'attempt', (t) => t.write('a', '1'))
    const stale = { ...bench.options(layer, target), epoch: 7 }
    expect(isCairnError(await failureOf(commitLayer(bench.stores, stale)), 'stale_epoch')).toBe(
      true,
    )
    expect(layer.head.position.state).toBe('open')
  })
})

describe('commit › a layer that is written to meanwhile', () => {
  /** Writes to the layer between the commit and its close. */
  async function commitWhileWriting(
    bench: LayerBench,
    layer: Branch,
    target: Branch,
    write: () => Promise<void>,
  ): Promise<CommitOutcome> {
    const changeState = layer.changeState.bind(layer)
    layer.changeState = async (...args) => {
      layer.changeState = changeState
      await write()
      return changeState(...args)
    }
    return commitLayer(bench.stores, bench.options(layer, target))
  }

  it('stays open, and commits again with what came late', async () => {
    const bench = new LayerBench()
    const target = await bench.main((t) => t.write('a', '0'))
    const layer = await bench.layer(target, 'attempt', (t) => t.write('a', '1').write('n', '1'))
    const first = await commitWhileWriting(bench, layer, target, () =>
      bench.edit(layer, (t) => t.write('a', '2').write('late', '2')),
    )
    expect(await bench.changed(first)).toEqual(['modified a', 'added n'])
    expect(layer.head.position.state).toBe('open')
    expect(await bench.list(target)).toEqual({ a: '1', n: '1' })
    await bench.edit(target, (t) => t.write('n', '3'))
    const second = await commitLayer(bench.stores, bench.options(layer, target))
    expect(await bench.changed(second)).toEqual(['modified a', 'added late'])
    expect(await bench.list(target)).toEqual({ a: '2', late: '2', n: '3' })
    expect(layer.head.position.state).toBe('committed')
  })

  it('after conflicts were decided: is in conflict no more, and the decisions are spent', async () => {
    const bench = new LayerBench()
    const target = await bench.main((t) => t.write('a', '0'))
    const layer = await bench.layer(target, 'attempt', (t) => t.write('a', '1'))
    await bench.edit(target, (t) => t.write('a', '2'))
    const { found: conflicts } = await failureOf(
      commitLayer(bench.stores, bench.options(layer, target)),
    )
    await resolveConflict(bench.stores, layer.id, {
      conflict: conflicts[0]!.id,
      choice: { type: 'target' },
    })
    await commitWhileWriting(bench, layer, target, () =>
      bench.edit(layer, (t) => t.write('late', '1')),
    )
    expect(layer.head.position.state).toBe('open')
    expect((await bench.stores.refs.getBranch(layer.id)).resolutions).toEqual([])
    await commitLayer(bench.stores, bench.options(layer, target))
    expect(await bench.list(target)).toEqual({ a: '2', late: '1' })
  })

  it('a directory that both made goes by the target’s number; late files still find it', async () => {
    const bench = new LayerBench()
    const target = await bench.main()
    const layer = await bench.layer(target, 'attempt', (t) => t.mkdir('out').write('out/a', '1'))
    await bench.edit(target, (t) => t.mkdir('out').write('out/b', '2'))
    await commitWhileWriting(bench, layer, target, () =>
      bench.edit(layer, (t) => t.write('out/late', '1').write('out/a', '3')),
    )
    await commitLayer(bench.stores, bench.options(layer, target))
    expect(await bench.list(target)).toEqual({
      out: 'directory',
      'out/a': '3',
      'out/b': '2',
      'out/late': '1',
    })
  })

  it('abandoned meanwhile: the commit stands, and so does who gave it up', async () => {
    const bench = new LayerBench()
    const target = await bench.main()
    const layer = await bench.layer(target, 'attempt', (t) => t.write('a', '1'))
    await commitWhileWriting(bench, layer, target, () => abandonLayer(layer, bench.author()))
    expect(layer.head.position.state).toBe('abandoned')
    expect(await bench.list(target)).toEqual({ a: '1' })
    // Reopened, it goes on from what was committed.
    await bench.edit(target, (t) => t.write('a', '2'))
    await reopenLayer(layer, bench.author())
    await bench.edit(layer, (t) => t.write('b', '3'))
    await commitLayer(bench.stores, bench.options(layer, target))
    expect(await bench.list(target)).toEqual({ a: '2', b: '3' })
  })
})

describe('commit › layers on layers', () => {
  it('a commit goes to the parent, and with the parent’s commit on to its own', async () => {
    const bench = new LayerBench()
    const main = await bench.main((t) => t.mkdir('d').write('d/a', '0').write('d/b', '0'))
    const planner = await bench.layer(main, 'planner', (t) => t.write('d/plan', '1'))
    const one = await bench.layer(planner, 'one', (t) => t.write('d/a', '2'))
    const other = await bench.layer(planner, 'other', (t) => t.rename('d', 'e'))
    await commitLayer(bench.stores, bench.options(other, planner))
    await commitLayer(bench.stores, bench.options(one, planner))
    const planned = { e: 'directory', 'e/a': '2', 'e/b': '0', 'e/plan': '1' }
    expect(await bench.list(planner)).toEqual(planned)
    expect(await bench.list(main)).toEqual({ d: 'directory', 'd/a': '0', 'd/b': '0' })
    await bench.edit(main, (t) => t.write('d/b', '3').write('d/main', '3'))
    await commitLayer(bench.stores, bench.options(planner, main))
    expect(await bench.list(main)).toEqual({ ...planned, 'e/b': '3', 'e/main': '3' })
  })
})
