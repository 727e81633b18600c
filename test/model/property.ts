import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { it } from 'vitest'

/** Values that failed once. Every run tries them first; a file stays when its fault is fixed. */
const folder = join(import.meta.dirname, 'seeds')
/** For longer runs: `CAIRN_RUNS=50 npx vitest run test/model`. */
const runsFactor = Number(process.env['CAIRN_RUNS'] ?? 1)
/** For the same runs again: what they printed. */
const givenSeed = process.env['CAIRN_SEED']
/** A failing value is made smaller until then at most, so that it is kept before the test is given up. */
const timeLimitMs = 40_000 * Math.max(1, runsFactor)

export interface Property<Value> {
  /** Names its files in `seeds/`. */
  readonly name: string
  readonly runs: number
  /** Plain data, which JSON gives back as it was. */
  readonly values: fc.Arbitrary<Value>
  readonly test: (value: Value) => Promise<void>
}

interface KeptValue<Value> {
  readonly property: string
  readonly seed: number
  readonly path: string | null
  readonly error: string
  /** Tried as it is: once the generators change, the seed means something else. */
  readonly value: Value
}

/** A fact that holds for many random values. One that fails is made smaller and kept as a file. */
export function itHolds<Value>(fact: string, property: Property<Value>): void {
  it(fact, () => check(property), 1.5 * timeLimitMs)
}

async function check<Value>({ name, runs, values, test }: Property<Value>): Promise<void> {
  for (const { value } of readKept<Value>(name)) await test(value)
  const seed = chooseSeed()
  const numRuns = Math.ceil(runs * runsFactor)
  console.log(`${name}: seed ${seed}, ${numRuns} runs`)
  const result = await fc.check(fc.asyncProperty(values, test), {
    seed,
    numRuns,
    interruptAfterTimeLimit: timeLimitMs,
  })
  if (result.interrupted) console.log(`${name}: stopped after ${result.numRuns} runs`)
  if (!result.failed) return
  const value = result.counterexample?.[0]
  if (value !== undefined) {
    const error = String(result.errorInstance)
    keep({ property: name, seed, path: result.counterexamplePath, error, value })
  }
  throw new Error(fc.defaultReportMessage(result), { cause: result.errorInstance })
}

function readKept<Value>(property: string): readonly KeptValue<Value>[] {
  mkdirSync(folder, { recursive: true })
  return readdirSync(folder)
    .sort()
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as KeptValue<Value>)
    .filter((kept) => kept.property === property)
}

function keep(kept: KeptValue<unknown>): void {
  const name = `${kept.property.replaceAll(' ', '-')}-${kept.seed}.json`
  writeFileSync(join(folder, name), `${JSON.stringify(kept, undefined, 2)}\n`)
}

/** The same in every ordinary run, so that red means changed; longer runs look for new cases each time. */
function chooseSeed(): number {
  if (givenSeed !== undefined) return Number(givenSeed)
  return runsFactor > 1 ? Date.now() % 2 ** 31 : 1
}
