import { findFaults } from './checks.ts'
import { makeConditions, makeMixedConditions } from './conditions.ts'
import { World } from './world.ts'

/** Sessions and servers alone, or also appends and layers. */
export type Plot = 'sessions' | 'mixed'

export interface Story {
  readonly faults: readonly string[]
  readonly trace: readonly string[]
  readonly events: number
}

export async function simulate(seed: number, plot: Plot, keepsTrace = false): Promise<Story> {
  const conditions = plot === 'mixed' ? makeMixedConditions(seed) : makeConditions(seed)
  const world = new World(seed, conditions, keepsTrace)
  await world.run()
  const faults = await findFaults(world)
  return { faults, trace: world.trace.lines, events: world.scheduler.events }
}
