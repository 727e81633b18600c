import { describe, it } from 'vitest'
import { runNewSeeds } from './run-seeds.ts'

describe('sessions and servers in a simulated world, the other half', () => {
  it('new seeds', { timeout: 3_600_000 }, () => runNewSeeds(1000))
})
