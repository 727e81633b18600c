import { describe, expect, it } from 'vitest'
import { runKeptSeeds, runSeeds } from './run-seeds.ts'
import { simulate } from './simulate.ts'

describe('sessions that write beside each other in a simulated world', () => {
  it('acknowledge at the same time in a third of the stories', async () => {
    const counts: number[] = []
    for (let seed = 1; seed <= 40; seed++)
      counts.push((await simulate(seed, 'writers')).acknowledgedTogether)
    expect(counts.filter((count) => count > 5).length, counts.join(' ')).toBeGreaterThan(13)
  })

  it('keep their promises with the seeds that failed before', { timeout: 600_000 }, () =>
    runKeptSeeds('writers'),
  )

  it('keep their promises with seeds 1 to 100', { timeout: 3_600_000 }, () =>
    runSeeds('writers', 1, 100),
  )
})
