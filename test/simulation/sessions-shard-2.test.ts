import { describe, it } from 'vitest'
import { runSeeds } from './run-seeds.ts'

describe('sessions and servers in a simulated world, shard 2', () => {
  it('keep their promises with seeds 1001 to 2000', { timeout: 3_600_000 }, () =>
    runSeeds('sessions', 1001, 1000),
  )
})
