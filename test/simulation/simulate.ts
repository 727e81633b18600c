import { findFaults } from './checks.ts'
import {
  makeConditions,
  makeMixedConditions,
  makeTreeConditions,
  makeWritersConditions,
} from './conditions.ts'
import { TreeWorld } from './trees/tree-world.ts'
import { World } from './world.ts'

/** Sessions and servers alone, several that write a lot beside each other, also appends and layers, or a tree. */
export type Plot = 'sessions' | 'writers' | 'mixed' | 'trees'
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
  if (plot === 'trees') return simulateTree(seed, keepsTrace)
  const world = new World(seed, conditionsOf[plot](seed), keepsTrace)
  await world.run()
  const faults = await findFaults(world)
  const { acknowledgedTogether } = world
  return { faults, trace: world.trace.lines, events: world.scheduler.events, acknowledgedTogether }
}

async function simulateTree(seed: number, keepsTrace: boolean): Promise<Story> {
  const world = new TreeWorld(seed, makeTreeConditions(seed), keepsTrace)
  await world.run()
  const { trace, scheduler, acknowledgedTogether, promises } = world
  const { events } = scheduler
  return { faults: promises.faults, trace: trace.lines, events, acknowledgedTogether }
}
