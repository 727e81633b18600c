import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { Chance } from './chance.ts'
import { anyStory, playStory } from './play.ts'
import { itHolds } from './property.ts'
import { Retelling } from './retell.ts'
import { TestBranch } from './test-branch.ts'
import { World } from './world.ts'

describe('canonicity', () => {
  itHolds('two histories that end in the same files have the same root', {
    name: 'canonicity',
    runs: 12,
    values: fc.record({ story: anyStory(60), seed: fc.nat() }),
    async test({ story, seed }) {
      const world = new World()
      const { ops, models } = await playStory(world, story)
      const first = await TestBranch.create(world, 'first')
      expect(await first.submit(ops)).toBeUndefined()
      const chance = new Chance(seed)
      const other = await TestBranch.create(world, 'other')
      const otherOps = await new Retelling(models.at(-1)!, world.resolver, chance).tell()
      for (let at = 0; at < otherOps.length;) {
        expect(await other.submit(otherOps.slice(at, (at += 1 + chance.below(40))))).toBeUndefined()
        if (chance.oneIn(8)) await other.fold()
      }
      expect((await other.fold()).root).toEqual((await first.fold()).root)
    },
  })
})
