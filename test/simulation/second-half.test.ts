import { describe, it } from 'vitest'
import { runSeeds } from './run-seeds.ts'

describe('sessions and servers in a simulated world, the other half', () => {
  it('a thousand seeds more', { timeout: 3_600_000 }, () => runSeeds('sessions', 1001, 1000))
})
