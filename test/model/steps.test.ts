import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { itHolds } from './property.ts'
import { anyStep } from './step.ts'
import { TestBranch } from './test-branch.ts'
import { World } from './world.ts'

const anyTurn = fc.oneof(
  { weight: 12, arbitrary: anyStep },
  { weight: 1, arbitrary: fc.constant('fold' as const) },
  { weight: 1, arbitrary: fc.constant('reopen' as const) },
)

describe('operations', () => {
  itHolds('each answers as the model does and leaves the same tree', {
    name: 'steps',
    runs: 12,
    values: fc.array(anyTurn, { maxLength: 100, size: 'max' }),
    async test(turns) {
      const world = new World()
      const model = world.newModel()
      const core = await TestBranch.create(world, 'main')
      for (const turn of turns) {
        if (turn === 'fold') await core.foldAndCount(model)
        else if (turn === 'reopen') await core.reopen()
        else {
          const op = await world.resolver.resolve(turn, model)
          expect(await core.submit([op])).toBe(model.apply([op]))
        }
        await core.expectSame(model)
      }
    },
  })
})
