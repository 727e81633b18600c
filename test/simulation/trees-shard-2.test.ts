import { describe, it } from 'vitest'
import { runSeeds } from './run-seeds.ts'

describe('mounts that change one tree in a simulated world, shard 2', () => {
  it('keep their promises with seeds 4601 to 9200', { timeout: 3_600_000 }, () =>
    runSeeds('trees', 4601, 4600),
  )
})
