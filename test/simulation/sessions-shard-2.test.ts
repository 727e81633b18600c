import { describe, it } from 'vitest'
import { runSeeds } from './run-seeds.ts'

describe('sessions and servers in a simulated world, shard 2', () => {
  it('keep their promises with seeds 301 to 600', { timeout: 3_600_000 }, () =>
    runSeeds('sessions', 301, 300),
  )
})
