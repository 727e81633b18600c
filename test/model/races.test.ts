import type { Op } from '@cairn/core'
import fc from 'fast-check'
import { describe } from 'vitest'
import { Chance } from './chance.ts'
import { FlakyLog } from './flaky-log.ts'
import type { Model } from './model.ts'
import { anyStory, playStory } from './play.ts'
import { itHolds } from './property.ts'
import { Race, raceEvents } from './race.ts'
import { makeWait, slowStores } from './slow.ts'
import { anyStep, type Step } from './step.ts'
import { World } from './world.ts'

const anyRace = fc.record({
  story: anyStory(20),
  sessions: fc.array(
    fc.array(fc.array(anyStep, { minLength: 1, maxLength: 3 }), { maxLength: 6, size: 'max' }),
    { maxLength: 4, size: 'max' },
  ),
  events: fc.array(
    fc.array(fc.constantFrom(...raceEvents, 'fold'), { maxLength: 8, size: 'max' }),
    {
      maxLength: 3,
    },
  ),
  seed: fc.nat(),
})
type AnyRace = typeof anyRace extends fc.Arbitrary<infer Value> ? Value : never

/** All against the tree as it was before the first one began: so they conflict with each other. */
async function resolveBatches(
  world: World,
  batches: readonly (readonly Step[])[],
  model: Model,
): Promise<Op[][]> {
  const resolved: Op[][] = []
  for (const steps of batches) {
    const ops: Op[] = []
    for (const step of steps) ops.push(await world.resolver.resolve(step, model))
    resolved.push(ops)
  }
  return resolved
}

interface Conditions {
  readonly servers: number
  readonly flaky?: boolean
  readonly hasty?: boolean
}

async function runRace(value: AnyRace, { servers, flaky, hasty }: Conditions): Promise<void> {
  const world = new World()
  const { ops, models } = await playStory(world, value.story)
  const sessions: Op[][][] = []
  for (const batches of value.sessions)
    sessions.push(await resolveBatches(world, batches, models.at(-1)!))
  const wait = makeWait(value.seed, 20)
  const chance = new Chance(value.seed)
  const slow = slowStores(value.seed)
  const flakyLog = new FlakyLog(world.disk.log, chance, wait)
  const race = await Race.start(world, {
    servers,
    chance,
    wait,
    around: (disk) => slow(flaky ? { ...disk, log: flakyLog } : disk),
  })
  await race.runSession([ops])
  await race.runEvents(['checkpoint'])
  await Promise.all([
    ...sessions.map((batches) =>
      hasty ? race.runHastySession(batches) : race.runSession(batches),
    ),
    ...value.events.map((events) => race.runEvents(events)),
  ])
  await flakyLog.settled()
  await race.finish()
}

describe('sessions that write at once', () => {
  itHolds('one server: every answer is true, and the log gives the same tree again', {
    name: 'one server',
    runs: 30,
    values: anyRace,
    test: (race) => runRace(race, { servers: 1 }),
  })

  itHolds('the same with batches that do not wait for the answer to the one before', {
    name: 'hasty sessions',
    runs: 30,
    values: anyRace,
    test: (race) => runRace(race, { servers: 1, hasty: true }),
  })

  itHolds('a log that fails while batches do not wait: sent again, they are taken in their order', {
    name: 'hasty sessions, flaky log',
    runs: 30,
    values: anyRace,
    test: (race) => runRace(race, { servers: 2, hasty: true, flaky: true }),
  })

  itHolds('two servers: nothing is lost or doubled where both append', {
    name: 'two servers',
    runs: 30,
    values: anyRace,
    test: (race) => runRace(race, { servers: 2 }),
  })

  itHolds('a log that fails before, after and long after an append: nothing is lost or doubled', {
    name: 'flaky log',
    runs: 30,
    values: anyRace,
    test: (race) => runRace(race, { servers: 2, flaky: true }),
  })
})
