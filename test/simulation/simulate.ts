import { findFaults } from './checks.ts'
import { World } from './world.ts'

export interface Story {
  readonly faults: readonly string[]
  readonly trace: readonly string[]
  readonly events: number
}

export async function simulate(seed: number, keepsTrace = false): Promise<Story> {
  const world = new World(seed, keepsTrace)
  await world.run()
  const faults = await findFaults(world)
  return { faults, trace: world.trace.lines, events: world.scheduler.events }
}
