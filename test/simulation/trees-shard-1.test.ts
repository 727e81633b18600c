import { describe, expect, it } from 'vitest'
import { runKeptSeeds, runSeeds } from './run-seeds.ts'
import { simulate } from './simulate.ts'

/** Two shards of seeds: each test file has a process of its own, so they use two cores. */
describe('mounts that change one tree in a simulated world, shard 1', () => {
  it('a seed tells the same story twice', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const first = await simulate(seed, 'trees', true)
      expect(first.trace.length).toBeGreaterThan(0)
      expect((await simulate(seed, 'trees', true)).trace).toEqual(first.trace)
    }
  })

  it('acknowledge at the same time in a quarter of the stories', async () => {
    const counts: number[] = []
    for (let seed = 1; seed <= 60; seed++)
      counts.push((await simulate(seed, 'trees')).acknowledgedTogether)
    expect(counts.filter((count) => count > 0).length, counts.join(' ')).toBeGreaterThan(15)
  })

  it('keep their promises with the seeds that failed before', { timeout: 600_000 }, () =>
    runKeptSeeds('trees'),
  )

  it('keep their promises with seeds 1 to 4600', { timeout: 3_600_000 }, () =>
    runSeeds('trees', 1, 4600),
  )
})
