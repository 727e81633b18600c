import { isCairnError } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { failureOf, LayerBench } from '../../test/layer-bench.ts'
import { commitLayer, rebaseLayer } from './commit.ts'
import { abandonLayer, findClosedState, reopenLayer } from './layer-state.ts'

describe('closed layers', () => {
  it('a committed layer takes no more writes and cannot be reopened, rebased or abandoned', async () => {
    const bench = new LayerBench()
    const target = await bench.main()
    const layer = await bench.layer(target, 'attempt', (t) => t.write('a', '1'))
    await commitLayer(bench.stores, bench.options(layer, target))
    for (const refused of [
      () => bench.edit(layer, (t) => t.write('b', '2')),
      () => reopenLayer(layer, bench.author()),
      () => abandonLayer(layer, bench.author()),
      () => rebaseLayer(bench.stores, bench.options(layer, target)),
    ])
      expect(isCairnError(await failureOf(refused()), 'layer_closed')).toBe(true)
  })

  it('an abandoned layer is not committed until it is reopened', async () => {
    const bench = new LayerBench()
    const target = await bench.main()
    const layer = await bench.layer(target, 'attempt', (t) => t.write('a', '1'))
    await abandonLayer(layer, bench.author())
    await abandonLayer(layer, bench.author())
    const refused = await failureOf(commitLayer(bench.stores, bench.options(layer, target)))
    expect(isCairnError(refused, 'layer_closed')).toBe(true)
    await reopenLayer(layer, bench.author())
    await reopenLayer(layer, bench.author())
    await commitLayer(bench.stores, bench.options(layer, target))
    expect(await bench.list(target)).toEqual({ a: '1' })
  })

  it('a layer can be abandoned while a writer is busy', async () => {
    const bench = new LayerBench()
    const target = await bench.main()
    const layer = await bench.layer(target, 'attempt')
    const writing = bench.edit(layer, (t) => t.write('a', '1'))
    const submit = layer.submit.bind(layer)
    // Is in the queue first, so that the layer has moved on when its turn comes.
    let abandoning: Promise<void> | undefined
    layer.submit = (submission) => {
      const submitted = submit(submission)
      abandoning = abandonLayer(layer, bench.author())
      return submitted
    }
    await writing
    await abandoning
    expect(layer.head.position.state).toBe('abandoned')
    expect(await bench.list(layer)).toEqual({ a: '1' })
  })

  it('two that abandon a layer at once are both right', async () => {
    const bench = new LayerBench()
    const target = await bench.main()
    const layer = await bench.layer(target, 'attempt')
    const other = await bench.reopen(layer)
    await bench.edit(other, (t) => t.write('a', '1'))
    await Promise.all([layer, other].map((each) => abandonLayer(each, bench.author())))
    await layer.refresh()
    expect(layer.head.position.state).toBe('abandoned')
  })

  it('closed layers are known by their logs alone', async () => {
    const bench = new LayerBench()
    const target = await bench.main()
    const layer = await bench.layer(target, 'attempt', (t) => t.write('a', '1'))
    const state = (): Promise<unknown> => findClosedState(bench.stores.log, layer.id)
    expect(await state()).toBe(undefined)
    await abandonLayer(layer, bench.author())
    expect(await state()).toBe('abandoned')
    await reopenLayer(layer, bench.author())
    expect(await state()).toBe(undefined)
    await abandonLayer(layer, bench.author())
    expect(await state()).toBe('abandoned')
    await reopenLayer(layer, bench.author())
    await commitLayer(bench.stores, bench.options(layer, target))
    expect(await state()).toBe('committed')
  })

  it('nothing is committed into a layer that was committed itself', async () => {
    const bench = new LayerBench()
    const main = await bench.main()
    const parent = await bench.layer(main, 'parent', (t) => t.write('a', '1'))
    const child = await bench.layer(parent, 'child', (t) => t.write('b', '2'))
    await commitLayer(bench.stores, bench.options(parent, main))
    const refused = await failureOf(commitLayer(bench.stores, bench.options(child, parent)))
    expect(isCairnError(refused, 'layer_closed')).toBe(true)
    expect(child.head.position.state).toBe('open')
  })
})
