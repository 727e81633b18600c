import { createBranch, type Op, type Snapshot } from '@cairn/core'
import { MemoryRefStore } from '@cairn/core/testing'
import type { BranchId } from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { Chance } from './chance.ts'
import { anyStory, playStory } from './play.ts'
import { itHolds } from './property.ts'
import { slowStores } from './slow.ts'
import { TestBranch } from './test-branch.ts'
import { ask, failPuts, passUnavailable } from './unavailable.ts'
import { World } from './world.ts'

/** How a history is cut: so many operations as one batch, then something else. */
const anyCut = fc.record({
  ops: fc.oneof({ weight: 4, arbitrary: fc.nat({ max: 4 }) }, fc.nat({ max: 30 })),
  event: fc.constantFrom('go on', 'go on', 'fold', 'fold meanwhile', 'fold meanwhile', 'reopen'),
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
  const slow = slowStores(seed)
  const chance = new Chance(seed)
  const core = await TestBranch.create(world, 'many batches', (disk) => {
    if (!failing) return slow(disk)
    const { nodes, blobs } = disk
    const [touch, draft] = [blobs.touch.bind(blobs), blobs.draft.bind(blobs)]
    return slow({
      ...disk,
      nodes: failPuts(nodes, chance),
      blobs: { ...failPuts(blobs, chance), touch, draft },
    })
  })
  const folds: Promise<Snapshot | undefined>[] = []
  for (let at = 0, turn = 0; at < ops.length; turn++) {
    const cut = cuts[turn % cuts.length]!
    const batch = ops.slice(at, (at += cut.ops + 1))
    expect(await core.submit(batch)).toBeUndefined()
    if (cut.event === 'fold') await core.fold().catch(passUnavailable)
    if (cut.event === 'fold meanwhile') folds.push(core.fold().catch(passUnavailable))
    if (cut.event === 'reopen') await core.reopen()
    if (cut.look) await core.expectSame(models[Math.min(at, ops.length)]!)
  }
  await Promise.all(folds)
  const folded = await ask(() => core.foldAndCount(models.at(-1)!))
  await core.expectSame(models.at(-1)!)
  expect(folded).toEqual(await foldOneBatch(world, ops))
  expect(await foldWholeLog(world, 'many batches')).toEqual(folded)
  await world.expectNothingLost(core.branch.id)
}

describe('batches', () => {
  itHolds('any cutting, folding and reopening on the way gives the root of one batch', {
    name: 'batches',
    runs: 30,
    values: anyHistory,
    test: (history) => playInPieces(history, false),
  })

  itHolds('folds that fail on the way change nothing', {
    name: 'failing folds',
    runs: 15,
    values: anyHistory,
    test: (history) => playInPieces(history, true),
  })
})
