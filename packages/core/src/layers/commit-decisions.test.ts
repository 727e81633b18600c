import { isCairnError } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { failureOf, LayerBench } from '../../test/layer-bench.ts'
import type { Branch } from '../history/branch.ts'
import { commitLayer, resolveConflict } from './commit.ts'
import { merge, type MergeResult } from './merge.ts'
import type { Choice } from '../ports/records.ts'

describe('commit › conflicts', () => {
  it('leave the target alone, tree and log; decided, the layer commits', async () => {
    const bench = new LayerBench()
    const target = await bench.main((t) => t.write('a', '0').write('b', '0'))
    const layer = await bench.layer(target, 'attempt', (t) => t.write('a', '1').write('b', '1'))
    await bench.edit(target, (t) => t.write('a', '2'))
    const before = await target.fold()
    const error = await failureOf(commitLayer(bench.stores, bench.options(layer, target)))
    expect(isCairnError(error, 'layer_conflict')).toBe(true)
    expect(error.message).toContain(
      'cannot merge layer attempt: 1 path is in conflict: /a (edit/edit)',
    )
    expect(await target.fold()).toEqual(before)
    expect(layer.head.position.state).toBe('conflicted')
    // It can still be read and written.
    await bench.edit(layer, (t) => t.write('b', '3'))
    const [conflict] = error.found
    const resolution = { conflict: conflict!.id, choice: { type: 'layer' } } as const
    await resolveConflict(bench.stores, layer.id, resolution)
    await commitLayer(bench.stores, bench.options(layer, target))
    expect(await bench.list(target)).toEqual({ a: '1', b: '3' })
  })

  it('the last decision counts', async () => {
    const bench = new LayerBench()
    const target = await bench.main((t) => t.write('a', '0'))
    const layer = await bench.layer(target, 'attempt', (t) => t.write('a', '1'))
    await bench.edit(target, (t) => t.write('a', '2'))
    const { found: conflicts } = await failureOf(
      commitLayer(bench.stores, bench.options(layer, target)),
    )
    const bytes = new TextEncoder().encode('3')
    for (const choice of [{ type: 'layer' }, { type: 'bytes', bytes }] as const)
      await resolveConflict(bench.stores, layer.id, { conflict: conflicts[0]!.id, choice })
    await commitLayer(bench.stores, bench.options(layer, target))
    expect(await bench.list(target)).toEqual({ a: '3' })
  })

  it('a decision does not stand when the target moved on meanwhile', async () => {
    const bench = new LayerBench()
    const target = await bench.main((t) => t.write('a', '0'))
    const layer = await bench.layer(target, 'attempt', (t) => t.write('a', '1'))
    await bench.edit(target, (t) => t.write('a', '2'))
    const { found: conflicts } = await failureOf(
      commitLayer(bench.stores, bench.options(layer, target)),
    )
    await resolveConflict(bench.stores, layer.id, {
      conflict: conflicts[0]!.id,
      choice: { type: 'layer' },
    })
    await bench.edit(target, (t) => t.write('a', '3'))
    const again = await failureOf(commitLayer(bench.stores, bench.options(layer, target)))
    expect(again.found.map(({ kind }) => kind)).toEqual(['edit/edit'])
    expect(await bench.list(target)).toEqual({ a: '3' })
  })
})

describe('commit › decisions and later work of the layer', () => {
  const bytes = new TextEncoder().encode('decided')

  async function decided(
    choice: Choice,
  ): Promise<{ bench: LayerBench; target: Branch; layer: Branch }> {
    const bench = new LayerBench()
    const target = await bench.main((t) => t.write('a', '0').write('b', '0'))
    const layer = await bench.layer(target, 'attempt', (t) => t.write('a', '1'))
    await bench.edit(target, (t) => t.write('a', '2'))
    const { found: conflicts } = await failureOf(
      commitLayer(bench.stores, bench.options(layer, target)),
    )
    await resolveConflict(bench.stores, layer.id, { conflict: conflicts[0]!.id, choice })
    return { bench, target, layer }
  }

  it.each<Choice>([{ type: 'target' }, { type: 'bytes', bytes }])(
    '$type: saved again, the layer’s file is in conflict again',
    async (choice) => {
      const { bench, target, layer } = await decided(choice)
      await bench.edit(layer, (t) => t.write('a', 'later'))
      const again = await failureOf(commitLayer(bench.stores, bench.options(layer, target)))
      expect(again.found.map(({ kind, path }) => `${kind} ${path.join('/')}`)).toEqual([
        'edit/edit a',
      ])
      expect(await bench.list(target)).toEqual({ a: '2', b: '0' })
    },
  )

  it.each<[Choice, string]>([
    [{ type: 'target' }, '2'],
    [{ type: 'bytes', bytes }, 'decided'],
    [{ type: 'layer' }, '1'],
  ])('%o stands when the layer goes on elsewhere', async (choice, expected) => {
    const { bench, target, layer } = await decided(choice)
    await bench.edit(layer, (t) => t.write('b', 'later'))
    await commitLayer(bench.stores, bench.options(layer, target))
    expect(await bench.list(target)).toEqual({ a: expected, b: 'later' })
  })

  it('layer: stands for what the layer makes of the file since', async () => {
    const { bench, target, layer } = await decided({ type: 'layer' })
    await bench.edit(layer, (t) => t.write('a', 'later'))
    await commitLayer(bench.stores, bench.options(layer, target))
    expect(await bench.list(target)).toEqual({ a: 'later', b: '0' })
  })

  it('the last decision counts, also after later changes of the layer', async () => {
    const { bench, target, layer } = await decided({ type: 'layer' })
    await bench.edit(layer, (t) => t.write('a', 'later'))
    const { base } = await bench.stores.refs.getBranch(layer.id)
    const sides = {
      base,
      layer: (await layer.fold()).snapshot,
      target: (await target.fold()).snapshot,
    }
    const { nodes, blobs } = bench.stores
    const open = await merge({ ...sides, nodes, blobs })
    const { conflicts } = open as Extract<MergeResult, { type: 'conflicted' }>
    const resolution = { conflict: conflicts[0]!.id, choice: { type: 'target' } } as const
    await resolveConflict(bench.stores, layer.id, resolution)
    await bench.edit(layer, (t) => t.write('a', 'last'))
    const again = await failureOf(commitLayer(bench.stores, bench.options(layer, target)))
    expect(again.found).toHaveLength(1)
  })

  it('a directory that was given up for a file: what the layer put into it since is not dropped', async () => {
    const bench = new LayerBench()
    const target = await bench.main()
    const layer = await bench.layer(target, 'attempt', (t) => t.mkdir('d').write('d/a', '1'))
    await bench.edit(target, (t) => t.write('d', 'file'))
    const { found: conflicts } = await failureOf(
      commitLayer(bench.stores, bench.options(layer, target)),
    )
    const choice = { type: 'target' } as const
    await resolveConflict(bench.stores, layer.id, { conflict: conflicts[0]!.id, choice })
    await bench.edit(layer, (t) => t.write('d/more', '2'))
    const again = await failureOf(commitLayer(bench.stores, bench.options(layer, target)))
    expect(again.found.map(({ kind }) => kind)).toEqual(['file/directory'])
  })
})
