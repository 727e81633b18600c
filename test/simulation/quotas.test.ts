import { describe, expect, it } from 'vitest'
import { makeTreeConditions } from './conditions.ts'
import { simulate } from './simulate.ts'

describe('mounts that share a quota in a simulated world', () => {
  it(
    'acknowledge at the same time in some of the stories, and keep their promises',
    { timeout: 600_000 },
    async () => {
      const counts: number[] = []
      for (let seed = 20_001; seed <= 20_600; seed++) {
        if (makeTreeConditions(seed).maxFiles === undefined) continue
        const { faults, acknowledgedTogether } = await simulate(seed, 'trees')
        expect(faults, `seed ${seed}`).toEqual([])
        counts.push(acknowledgedTogether)
      }
      const together = counts.filter((count) => count > 0).length
      console.log(`${counts.length} stories with a quota, ${together} with several holders`)
      expect(together).toBeGreaterThan(counts.length / 8)
    },
  )
})
