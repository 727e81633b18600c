import { Chance } from '../model/chance.ts'

/** How hard the world is on those who live in it. Derived from the seed, so a seed says everything. */
export interface Conditions {
  readonly servers: number
  readonly clients: number
  readonly leaseMs: number
  readonly lookMs: number
  /** How long everything is allowed to go wrong. */
  readonly stormMs: number
  readonly messageDelayMs: number
  /** Between what a client does. */
  readonly pauseMs: number
  readonly troublePauseMs: number
  readonly storeDelayMs: number
  /** One in so many store calls fails; 0 for never. */
  readonly storeFailsOneIn: number
  readonly skewMs: number
  /** How often clients want a name that others want, too. */
  readonly contestedOneIn: number
  /** How often a holder of the lease waits for the server all the same. */
  readonly hesitatesOneIn: number
  /** One in so many clients gives everything back or nothing, instead of single directories; 0 for none. */
  readonly wholeOneIn: number
  /** One in so many changes is made in a directory that another client made, perhaps; 0 for most of them. */
  readonly straysOneIn: number
  /** Swarm testing: a run without one trouble finds what a run with all of them hides. */
  readonly troubles: readonly Trouble[]
  /** How often clients append to the file that all of them append to; 0 for never. */
  readonly appendsOneIn: number
}

export const troubles = [
  'cut',
  'half-open',
  'partition',
  'crash-server',
  'crash-client',
  'new-client',
  'leave-client',
  'one-off',
  'fold',
] as const
/** What only mixed stories have. */
const requests = ['append', 'layer', 'layer'] as const
export type Trouble = (typeof troubles)[number] | (typeof requests)[number]

const treeTroubles = [...troubles.filter(isOfTrees), 'freeze'] as const
export type TreeTrouble = (typeof treeTroubles)[number]

export interface TreeConditions extends Omit<Conditions, 'troubles'> {
  readonly troubles: readonly TreeTrouble[]
  /** The quota; undefined for none. */
  readonly maxFiles: number | undefined
}

function isOfTrees(trouble: Trouble): trouble is Exclude<(typeof troubles)[number], 'fold'> {
  return trouble !== 'fold'
}

/** Sessions, one-off writes, appends and layers at once, on two servers. */
export function makeMixedConditions(seed: number): Conditions {
  const conditions = makeConditions(seed)
  const pauseMs = 100
  return {
    ...conditions,
    servers: 2,
    pauseMs,
    troublePauseMs: pauseMs,
    appendsOneIn: 3,
    troubles: [...conditions.troubles, ...requests, ...requests],
  }
}

/** Two to four sessions on one server that give single directories back, and work all the time. */
export function makeWritersConditions(seed: number): Conditions {
  const chance = new Chance(seed ^ 0x3a11)
  const conditions = makeConditions(seed)
  return {
    ...conditions,
    servers: 1,
    clients: 2 + chance.below(3),
    storeDelayMs: chance.choose([0, 5]),
    pauseMs: chance.choose([40, 120]),
    messageDelayMs: chance.choose([1, 5, 40]),
    contestedOneIn: chance.choose([3, 12, 40]),
    wholeOneIn: chance.choose([0, 0, 0, 5]),
    straysOneIn: chance.choose([2, 5, 20]),
    troublePauseMs: chance.choose([300, 900]),
    stormMs: chance.choose([1500, 3000]),
    appendsOneIn: chance.choose([0, 0, 8]),
  }
}

/** Short stories of mounts that change one tree: most often on one server, with few troubles each. */
export function makeTreeConditions(seed: number): TreeConditions {
  const chance = new Chance(seed ^ 0x7ee5)
  const conditions = makeConditions(seed)
  return {
    ...conditions,
    servers: chance.choose([1, 1, 1, 2]),
    clients: 2 + chance.below(2),
    leaseMs: chance.choose([300, 600]),
    storeDelayMs: chance.choose([0, 0, 5]),
    storeFailsOneIn: chance.choose([0, 0, 0, 50]),
    // Clocks that differ by most of a lease pass sessions over that are there.
    skewMs: Math.min(20, conditions.skewMs),
    pauseMs: chance.choose([20, 60]),
    messageDelayMs: chance.choose([1, 5, 20]),
    troublePauseMs: chance.choose([100, 300]),
    stormMs: chance.choose([150, 300]),
    troubles: chance.shuffle(treeTroubles).slice(0, chance.below(4)),
    maxFiles: chance.oneIn(6) ? 8 + chance.below(12) : undefined,
  }
}

export function makeConditions(seed: number): Conditions {
  const chance = new Chance(seed ^ 0x5eed)
  const storeDelayMs = chance.choose([0, 5, 20, 60])
  const conditions = {
    servers: chance.choose([1, 2, 2, 3]),
    clients: 1 + chance.below(3),
    // A lease must outlive the handful of store calls that renewing it takes.
    leaseMs: chance.choose([300, 800]) + 25 * storeDelayMs,
    lookMs: 100,
    stormMs: chance.choose([1000, 2500, 4000]),
    messageDelayMs: chance.choose([1, 20, 150]),
    storeDelayMs,
    storeFailsOneIn: chance.choose([0, 0, 100, 25]),
    skewMs: chance.choose([0, 20, 100]),
    pauseMs: chance.choose([200, 800]),
    contestedOneIn: chance.choose([2, 6]),
    hesitatesOneIn: chance.choose([3, 30]),
    troubles: chance.shuffle(troubles).slice(0, 1 + chance.below(5)),
    appendsOneIn: 0,
    wholeOneIn: chance.choose([0, 0, 1, 3]),
    straysOneIn: 0,
  }
  return { ...conditions, troublePauseMs: conditions.pauseMs }
}
