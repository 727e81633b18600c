import { forkBranch } from '@cairn/core'
import type { BranchId } from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import type { Model } from './model.ts'
import { itHolds } from './property.ts'
import { anyStep } from './step.ts'
import { TestBranch } from './test-branch.ts'
import { World } from './world.ts'

/** Without a step, the branch is forked. */
const anyTurn = fc.record({
  branch: fc.nat({ max: 7 }),
  step: fc.oneof({ weight: 12, arbitrary: anyStep }, fc.constant(null)),
})

/** As it is for a new branch: what has no name was open elsewhere. */
function withoutNameless(model: Model): Model {
  const copy = model.clone()
  for (const [inode, names] of copy.names())
    if (names.length === 0 && inode !== copy.root) copy.inodes.delete(inode.ino)
  return copy
}

describe('forks', () => {
  itHolds('a fork begins as its origin was, and neither ever changes the other', {
    name: 'forks',
    runs: 10,
    values: fc.array(anyTurn, { maxLength: 60, size: 'max' }),
    async test(turns) {
      const world = new World()
      const lines = [{ core: await TestBranch.create(world, 'line 0'), model: world.newModel() }]
      for (const { branch, step } of turns) {
        const { core, model } = lines[branch % lines.length]!
        if (step) {
          const op = await world.resolver.resolve(step, model)
          expect(await core.submit([op])).toBe(model.apply([op]))
        } else if (lines.length < 4) {
          const name = `line ${lines.length}`
          await forkBranch(core.stores, name as BranchId, await core.fold())
          const fork = await TestBranch.open(world, name)
          lines.push({ core: fork, model: withoutNameless(model) })
        }
        for (const line of lines) await line.core.expectSame(line.model)
      }
    },
  })
})
