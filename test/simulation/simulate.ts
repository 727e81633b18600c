import { findFaults } from './checks.ts'
import { makeConditions, makeMixedConditions, makeWritersConditions } from './conditions.ts'
import { World } from './world.ts'

/** Sessions and servers alone, several that write a lot beside each other, or also appends and layers. */
export type Plot = 'sessions' | 'writers' | 'mixed'
const conditionsOf = {
  sessions: makeConditions,
  writers: makeWritersConditions,
  mixed: makeMixedConditions,
}

export interface Story {
  readonly faults: readonly string[]
  readonly trace: readonly string[]
  readonly events: number
  /** How often a session acknowledged something while another one held the lease, too. */
  readonly acknowledgedTogether: number
}

export async function simulate(seed: number, plot: Plot, keepsTrace = false): Promise<Story> {
  const world = new World(seed, conditionsOf[plot](seed), keepsTrace)
  await world.run()
  const faults = await findFaults(world)
  const { acknowledgedTogether } = world
  return { faults, trace: world.trace.lines, events: world.scheduler.events, acknowledgedTogether }
}
