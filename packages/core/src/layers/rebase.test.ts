import { isCairnError } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { failureOf, LayerBench } from '../../test/layer-bench.ts'
import { checkTree } from '../testing/check-tree.ts'
import { commitLayer, rebaseLayer, resolveConflict } from './commit.ts'

describe('rebase', () => {
  it('brings the target’s changes into the layer, whose changes stay its own', async () => {
    const bench = new LayerBench()
    const target = await bench.main((t) => t.write('a', '0').write('b', '0'))
    const layer = await bench.layer(target, 'attempt', (t) => t.write('a', '1'))
    await bench.edit(target, (t) => t.write('b', '2'))
    await rebaseLayer(bench.stores, bench.options(layer, target))
    expect(await bench.list(layer)).toEqual({ a: '1', b: '2' })
    expect((await bench.stores.refs.getBranch(layer.id)).base.root).toBe(
      (await target.fold()).snapshot.root,
    )
    await bench.edit(target, (t) => t.write('b', '3'))
    const receipt = await commitLayer(bench.stores, bench.options(layer, target))
    expect(await bench.changed(receipt)).toEqual(['modified a'])
    expect(await bench.list(target)).toEqual({ a: '1', b: '3' })
  })

  it('goes by decisions made before; the layer is in conflict no more', async () => {
    const bench = new LayerBench()
    const target = await bench.main((t) => t.write('a', '0'))
    const layer = await bench.layer(target, 'attempt', (t) => t.write('a', '1'))
    await bench.edit(target, (t) => t.write('a', '2'))
    const { found: conflicts } = await failureOf(
      commitLayer(bench.stores, bench.options(layer, target)),
    )
    const before = await layer.fold()
    const refused = await failureOf(rebaseLayer(bench.stores, bench.options(layer, target)))
    expect(isCairnError(refused, 'layer_conflict')).toBe(true)
    expect(await layer.fold()).toEqual(before)
    await resolveConflict(bench.stores, layer.id, {
      conflict: conflicts[0]!.id,
      choice: { type: 'layer' },
    })
    await rebaseLayer(bench.stores, bench.options(layer, target))
    expect(layer.head.position.state).toBe('open')
    expect((await bench.stores.refs.getBranch(layer.id)).resolutions).toEqual([])
    await commitLayer(bench.stores, bench.options(layer, target))
    expect(await bench.list(target)).toEqual({ a: '1' })
  })

  it('what is open without a name stays where it is open', async () => {
    const bench = new LayerBench()
    const target = await bench.main((t) => t.write('layer', '0').write('target', '0'))
    const layer = await bench.layer(target, 'attempt', (t) => t.remove('layer'))
    await bench.edit(target, (t) => t.remove('target'))
    const { orphans } = (await layer.fold()).snapshot
    await rebaseLayer(bench.stores, bench.options(layer, target))
    const { snapshot } = await layer.fold()
    expect(snapshot.orphans).toBe(orphans)
    expect(await checkTree(bench.stores.nodes, snapshot)).toEqual([])
    expect(await bench.list(layer)).toEqual({})
  })

  it('twice, and then a commit, as if there had been none', async () => {
    const bench = new LayerBench()
    const target = await bench.main((t) => t.mkdir('d').write('d/a', '0'))
    const layer = await bench.layer(target, 'attempt', (t) => t.rename('d', 'e').write('e/x', '1'))
    await bench.edit(target, (t) => t.write('d/a', '2'))
    await rebaseLayer(bench.stores, bench.options(layer, target))
    await bench.edit(target, (t) => t.write('d/b', '3'))
    await rebaseLayer(bench.stores, bench.options(layer, target))
    await commitLayer(bench.stores, bench.options(layer, target))
    expect(await bench.list(target)).toEqual({
      e: 'directory',
      'e/a': '2',
      'e/b': '3',
      'e/x': '1',
    })
  })
})
