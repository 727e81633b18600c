import { type BranchId, isCairnError } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { failureOf, LayerBench } from '../../test/layer-bench.ts'

describe('fork', () => {
  it('lives on its own: neither sees the other’s changes', async () => {
    const bench = new LayerBench()
    const main = await bench.main((t) => t.write('a', '0'))
    const fork = await bench.layer(main, 'fork', (t) => t.write('a', '1'))
    await bench.edit(main, (t) => t.write('a', '2'))
    expect([await bench.list(main), await bench.list(fork)]).toEqual([{ a: '2' }, { a: '1' }])
  })

  it('a fork has no files that are open without a name on the other branch', async () => {
    const bench = new LayerBench()
    const main = await bench.main((t) => t.write('a', '0').remove('a'))
    expect((await main.fold()).snapshot.orphans).not.toBe(bench.stores.nodes.emptyRoot)
    const fork = await bench.layer(main, 'fork')
    expect((await fork.fold()).snapshot.orphans).toBe(bench.stores.nodes.emptyRoot)
  })

  it('under an id that is taken it is refused', async () => {
    const bench = new LayerBench()
    const main = await bench.main()
    const refused = await failureOf(bench.layer(main, 'main' as BranchId))
    expect(isCairnError(refused, 'branch_exists')).toBe(true)
  })
})
