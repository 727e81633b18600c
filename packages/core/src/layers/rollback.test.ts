import { type CheckpointId, isCairnError } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { failureOf, LayerBench } from '../../test/layer-bench.ts'
import type { Branch } from '../history/branch.ts'
import type { Checkpoint } from '../ports/ref-store.ts'
import { commitLayer, rebaseLayer } from './commit.ts'
import { makeCheckpoint, rollback, undoRollback } from './rollback.ts'

function checkpoint(bench: LayerBench, branch: Branch, id: string): Promise<Checkpoint> {
  const time = { sec: 1, nsec: 0 }
  return makeCheckpoint(bench.stores, branch, { id: id as CheckpointId, label: id, time })
}

describe('rollback', () => {
  it('gives back what was there; undone, what came after', async () => {
    const bench = new LayerBench()
    const main = await bench.main((t) => t.write('a', '1'))
    const made = await checkpoint(bench, main, 'before')
    await bench.edit(main, (t) => t.write('a', '2').write('b', '2'))
    const later = await main.fold()
    await rollback(bench.stores, main, bench.author(), made)
    expect(await bench.list(main)).toEqual({ a: '1' })
    await undoRollback(bench.stores, main, bench.author())
    expect((await main.fold()).snapshot).toEqual(later.snapshot)
    expect(await bench.list(await bench.reopen(main))).toEqual({ a: '2', b: '2' })
  })

  it('a rollback can be undone only while nothing came after it', async () => {
    const bench = new LayerBench()
    const main = await bench.main((t) => t.write('a', '1'))
    const made = await checkpoint(bench, main, 'before')
    const undo = (): Promise<unknown> => undoRollback(bench.stores, main, bench.author())
    expect(isCairnError(await failureOf(undo()), 'nothing_to_undo')).toBe(true)
    await rollback(bench.stores, main, bench.author(), made)
    await bench.edit(main, (t) => t.write('a', '2'))
    expect(isCairnError(await failureOf(undo()), 'nothing_to_undo')).toBe(true)
  })

  it('a rollback can be undone after a lease went from hand to hand', async () => {
    const bench = new LayerBench()
    const main = await bench.main((t) => t.write('a', '1'))
    const made = await checkpoint(bench, main, 'before')
    await bench.edit(main, (t) => t.write('a', '2'))
    await rollback(bench.stores, main, bench.author(), made)
    await main.raiseEpoch(bench.author())
    await undoRollback(bench.stores, main, bench.author())
    expect(await bench.list(main)).toEqual({ a: '2' })
  })

  it('a rollback is refused in an epoch that has ended, and so is undoing it', async () => {
    const bench = new LayerBench()
    const main = await bench.main((t) => t.write('a', '1'))
    const made = await checkpoint(bench, main, 'before')
    await bench.edit(main, (t) => t.write('a', '2'))
    const { epoch } = main.head.position
    await main.raiseEpoch(bench.author())
    const refused = await failureOf(rollback(bench.stores, main, bench.author(), made, epoch))
    expect(isCairnError(refused, 'stale_epoch')).toBe(true)
    await rollback(bench.stores, main, bench.author(), made, epoch + 1)
    const undone = undoRollback(bench.stores, main, bench.author(), epoch)
    expect(isCairnError(await failureOf(undone), 'stale_epoch')).toBe(true)
    expect(await bench.list(main)).toEqual({ a: '1' })
  })

  it('an empty branch has nothing to undo', async () => {
    const bench = new LayerBench()
    const main = await bench.main()
    const refused = await failureOf(undoRollback(bench.stores, main, bench.author()))
    expect(isCairnError(refused, 'nothing_to_undo')).toBe(true)
  })

  it('forwards again to a later checkpoint', async () => {
    const bench = new LayerBench()
    const main = await bench.main((t) => t.write('a', '1'))
    const one = await checkpoint(bench, main, 'one')
    await bench.edit(main, (t) => t.write('a', '2'))
    const two = await checkpoint(bench, main, 'two')
    await rollback(bench.stores, main, bench.author(), one)
    await rollback(bench.stores, main, bench.author(), two)
    expect(await bench.list(main)).toEqual({ a: '2' })
  })

  it('a rollback of a layer takes back its changes, and a commit has only the rest', async () => {
    const bench = new LayerBench()
    const main = await bench.main((t) => t.write('a', '0'))
    const layer = await bench.layer(main, 'attempt', (t) => t.write('good', '1'))
    const good = await checkpoint(bench, layer, 'good')
    await bench.edit(layer, (t) => t.write('bad', '1').write('a', '1'))
    await rollback(bench.stores, layer, bench.author(), good)
    await bench.edit(main, (t) => t.write('a', '2'))
    await commitLayer(bench.stores, bench.options(layer, main))
    expect(await bench.list(main)).toEqual({ a: '2', good: '1' })
  })

  it('after a rollback of the target, an older layer still commits', async () => {
    const bench = new LayerBench()
    const main = await bench.main((t) => t.write('a', '0'))
    const start = await checkpoint(bench, main, 'start')
    await bench.edit(main, (t) => t.write('b', '1').write('c', '1'))
    const layer = await bench.layer(main, 'attempt', (t) => t.write('c', '2').write('d', '2'))
    await rollback(bench.stores, main, bench.author(), start)
    const { found: conflicts } = await failureOf(
      commitLayer(bench.stores, bench.options(layer, main)),
    )
    expect(conflicts.map(({ kind, path }) => `${kind} ${path.join('/')}`)).toEqual([
      'edit/delete c',
    ])
    await bench.edit(layer, (t) => t.remove('c'))
    await commitLayer(bench.stores, bench.options(layer, main))
    expect(await bench.list(main)).toEqual({ a: '0', d: '2' })
  })

  it('a rollback to before a rebase is refused: a commit would undo the work of others', async () => {
    const bench = new LayerBench()
    const main = await bench.main((t) => t.write('a', '0'))
    const layer = await bench.layer(main, 'attempt', (t) => t.write('b', '1'))
    const early = await checkpoint(bench, layer, 'early')
    await bench.edit(main, (t) => t.write('a', 'of others'))
    await rebaseLayer(bench.stores, bench.options(layer, main))
    const rebased = await checkpoint(bench, layer, 'rebased')
    await bench.edit(layer, (t) => t.write('b', '2'))
    const refused = await failureOf(rollback(bench.stores, layer, bench.author(), early))
    expect(isCairnError(refused, 'checkpoint_outdated')).toBe(true)
    await rollback(bench.stores, layer, bench.author(), rebased)
    await commitLayer(bench.stores, bench.options(layer, main))
    expect(await bench.list(main)).toEqual({ a: 'of others', b: '1' })
  })

  it('a rollback of a closed layer is refused', async () => {
    const bench = new LayerBench()
    const main = await bench.main()
    const layer = await bench.layer(main, 'attempt', (t) => t.write('a', '1'))
    const made = await checkpoint(bench, layer, 'made')
    await commitLayer(bench.stores, bench.options(layer, main))
    const refused = await failureOf(rollback(bench.stores, layer, bench.author(), made))
    expect(isCairnError(refused, 'layer_closed')).toBe(true)
  })
})
