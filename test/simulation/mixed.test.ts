import { describe, expect, it } from 'vitest'
import { runKeptSeeds, runSeeds } from './run-seeds.ts'
import { simulate } from './simulate.ts'

describe('sessions, one-off writes, appends and layers on two servers in a simulated world', () => {
  it('a seed tells the same story twice', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const first = await simulate(seed, 'mixed', true)
      expect(first.trace.length).toBeGreaterThan(0)
      expect((await simulate(seed, 'mixed', true)).trace).toEqual(first.trace)
    }
  })

  it('keep their promises with the seeds that failed before', { timeout: 600_000 }, () =>
    runKeptSeeds('mixed'),
  )

  it('keep their promises with seeds 1 to 50', { timeout: 3_600_000 }, () =>
    runSeeds('mixed', 1, 50),
  )
})
