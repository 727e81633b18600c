// Any two things that can be done to a layer, started together, beside a plain model of layers.
import { describe, expect, it } from 'vitest'
import { Chance } from '../model/chance.ts'
import { type Operation, operationsOn } from './operations.ts'
import { Servers, World } from './world.ts'

/** For longer runs: `CAIRN_RUNS=50 npx vitest run test/races`. */
const rounds = Math.ceil(Number(process.env['CAIRN_RUNS'] ?? 1))
/** For one story again: what the failure printed. */
const givenSeed = process.env['CAIRN_SEED']

/** Stores in memory become slower with what is in them. */
const worldsAtOnce = 50
let servers = new Servers()
let count = 0

type Pair = readonly [Operation, Operation]

async function race(pair: Pair, family: boolean, seed: number): Promise<void> {
  const chance = new Chance(seed)
  const apart = chance.oneIn(2)
  const conflicted = chance.oneIn(2) || pair.some(({ name }) => name === 'resolve')
  if (count % worldsAtOnce === 0) servers = new Servers()
  const world = new World(servers, `w${count++}`)
  await world.fill({ family, conflicted })
  const possible = world.possible(pair)
  const end = await world.race(chance, apart, pair)
  const story = `CAIRN_SEED=${seed}, ${apart ? 'two servers' : 'one server'}, ${conflicted ? 'with' : 'without'} a conflict`
  if (possible.has(end)) return
  const ends = [...possible].map((each) => JSON.parse(each) as { readonly answers: unknown })
  const found = JSON.parse(end) as (typeof ends)[number]
  const sameAnswers = ends.find(({ answers }) => String(answers) === String(found.answers))
  expect.soft(found, story).toEqual(sameAnswers ?? ends[0])
}

/** The seed decides who goes first, and when it is the other's turn. */
async function raceAll(pair: Pair, family: boolean, salt: number): Promise<void> {
  const seeds =
    givenSeed === undefined
      ? Array.from({ length: rounds }, (_, round) => round * 1000 + salt)
      : [Number(givenSeed)]
  for (const seed of seeds) await race(pair, family, seed)
}

const parents = operationsOn('parent')
const layers = operationsOn('layer')

describe('two operations on one layer at once end as if their steps came one after the other', () => {
  for (const [index, first] of layers.entries())
    for (const [offset, second] of layers.slice(index).entries())
      it(`${first.name} and ${second.name}`, () =>
        raceAll([first, second], false, index * 20 + offset))
})

describe('two operations on a parent and its child at once end as if their steps came one after the other', () => {
  for (const [index, first] of parents.entries())
    for (const [offset, second] of layers.entries())
      it(`${first.name} of the parent and ${second.name} of the child`, () =>
        raceAll([first, second], true, 500 + index * 20 + offset))
})
