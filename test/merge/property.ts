import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import type { Scenario } from './scenario.ts'

/** Cases that failed once. Each is tried again in every run; keep the file when the fault is fixed. */
const folder = join(import.meta.dirname, 'seeds')
/** For longer runs: `CAIRN_RUNS=50 npx vitest run test/merge`. */
const runsFactor = Number(process.env['CAIRN_RUNS'] ?? 1)
/** For a run again: the number that a failing run printed. */
const givenSeed = process.env['CAIRN_SEED']

interface KeptCase {
  readonly property: string
  readonly seed: number
  readonly error: string
  /** The smallest found. Tried as it is: a seed would mean another one once the generators change. */
  readonly scenario: Scenario
}

/**
 * Tries a property on `runs` scenarios, after all in `seeds/` that failed before, whatever they failed at. One that
 * fails is made smaller and kept there.
 */
export async function checkProperty(
  property: string,
  runs: number,
  scenarios: fc.Arbitrary<Scenario>,
  test: (scenario: Scenario) => Promise<void>,
): Promise<void> {
  for (const { scenario } of readKept()) await test(scenario)
  const seed = chooseSeed()
  const numRuns = Math.ceil(runs * runsFactor)
  console.log(`${property}: seed ${seed}, ${numRuns} runs`)
  const details = await fc.check(fc.asyncProperty(scenarios, test), { seed, numRuns })
  if (!details.failed) return
  const error = fc.defaultReportMessage(details) ?? 'failed'
  const scenario = details.counterexample?.[0]
  if (scenario) keep({ property, seed, error, scenario })
  throw new Error(error, { cause: details.errorInstance })
}

function readKept(): readonly KeptCase[] {
  mkdirSync(folder, { recursive: true })
  return readdirSync(folder)
    .sort()
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as KeptCase)
}

function keep(kept: KeptCase): void {
  const name = `${kept.property.replaceAll(' ', '-')}-${kept.seed}.json`
  writeFileSync(join(folder, name), `${JSON.stringify(kept, undefined, 2)}\n`)
}

/** The same in every ordinary run, so that red means changed; longer runs look for new cases each time. */
function chooseSeed(): number {
  if (givenSeed !== undefined) return Number(givenSeed)
  return runsFactor > 1 ? Date.now() % 2 ** 31 : 1
}
