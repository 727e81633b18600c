import { describe, expect, it } from 'vitest'
import { runKeptSeeds, runSeeds } from './run-seeds.ts'
import { simulate } from './simulate.ts'

describe('sessions and servers in a simulated world', () => {
  it('a seed tells the same story twice', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const first = await simulate(seed, 'sessions', true)
      expect(first.trace.length).toBeGreaterThan(0)
      expect((await simulate(seed, 'sessions', true)).trace).toEqual(first.trace)
    }
  })

  it('keep their promises with the seeds that failed before', { timeout: 600_000 }, () =>
    runKeptSeeds('sessions'),
  )

  it('keep their promises with seeds 1 to 300', { timeout: 3_600_000 }, () =>
    runSeeds('sessions', 1, 300),
  )
})
