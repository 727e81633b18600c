import { createBranch, type Op, type Snapshot, totalsOf } from '@cairn/core'
import { MemoryRefStore } from '@cairn/core/testing'
import type { BranchId } from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Chance } from './chance.ts'
import { anyStory, playStory } from './play.ts'
import { checkProperty } from './property.ts'
import { makeWait, slowStores } from './slow.ts'
import { TestBranch } from './test-branch.ts'
import { countTotals } from './totals.ts'
import { ask, failPuts, passUnavailable } from './unavailable.ts'
import { World } from './world.ts'

/** How a history is cut: so many operations as one batch, then something else. */
const anyCut = fc.record({
  ops: fc.oneof({ weight: 4, arbitrary: fc.nat({ max: 4 }) }, fc.nat({ max: 30 })),
  then: fc.constantFrom('go on', 'go on', 'fold', 'fold meanwhile', 'fold meanwhile', 'reopen'),
  look: fc.boolean(),
})

const anyHistory = fc.record({
  story: anyStory(80),
  cuts: fc.array(anyCut, { minLength: 1, maxLength: 20 }),
  seed: fc.nat(),
})

type History = typeof anyHistory extends fc.Arbitrary<infer Value> ? Value : never

async function foldOneBatch(world: World, ops: readonly Op[]): Promise<Snapshot> {
  const core = await TestBranch.create(world, 'one batch')
  expect(await core.submit(ops)).toBeUndefined()
  return core.fold()
}

/** As if nothing had ever been folded. */
async function foldWholeLog(world: World, name: string): Promise<Snapshot> {
  const refs = new MemoryRefStore()
  await createBranch(
    world.openStores(() => ({ refs })),
    name as BranchId,
  )
  const core = await TestBranch.open(world, name, () => ({ refs }))
  return core.fold()
}

/** Cuts a history at random and folds, looks and reopens on the way: it must end as in one batch. */
async function playInPieces({ story, cuts, seed }: History, failing: boolean): Promise<void> {
  const world = new World()
  const { ops, models } = await playStory(world, story)
  const slow = slowStores(makeWait(seed, 40))
  const chance = new Chance(seed)
  const core = await TestBranch.create(world, 'many batches', (disk) => {
    if (!failing) return slow(disk)
    const { nodes, blobs } = disk
    return slow({ ...disk, nodes: failPuts(nodes, chance), blobs: failPuts(blobs, chance) })
  })
  const folds: Promise<Snapshot | undefined>[] = []
  for (let at = 0, turn = 0; at < ops.length; turn++) {
    const cut = cuts[turn % cuts.length]!
    const batch = ops.slice(at, (at += cut.ops + 1))
    expect(await core.submit(batch)).toBeUndefined()
    if (cut.then === 'fold') await core.fold().catch(passUnavailable)
    if (cut.then === 'fold meanwhile') folds.push(core.fold().catch(passUnavailable))
    if (cut.then === 'reopen') await core.reopen()
    if (cut.look) await core.expectSame(models[Math.min(at, ops.length)]!)
  }
  await Promise.all(folds)
  const folded = await ask(() => core.fold())
  await core.expectSame(models.at(-1)!)
  expect(folded).toEqual(await foldOneBatch(world, ops))
  expect(await foldWholeLog(world, 'many batches')).toEqual(folded)
  expect(totalsOf(core.stores.nodes, folded)).toEqual(countTotals(models.at(-1)!))
}

describe('batches', () => {
  it('any cutting, folding and reopening on the way gives the root of one batch', () =>
    checkProperty('batches', 60, anyHistory, (history) => playInPieces(history, false)))

  it('folds that fail on the way change nothing', () =>
    checkProperty('failing folds', 30, anyHistory, (history) => playInPieces(history, true)))
})
