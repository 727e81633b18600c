import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'

/** Cases that failed once. Each is tried again in every run; keep the file when the fault is mended. */
const folder = join(import.meta.dirname, 'seeds')
/** For longer runs: `CAIRN_RUNS=50 npx vitest run test/model`. */
const runsFactor = Number(process.env['CAIRN_RUNS'] ?? 1)
/** For a run again: the number that a failing run printed. */
const givenSeed = process.env['CAIRN_SEED']

interface KeptCase<Value> {
  readonly property: string
  readonly seed: number
  readonly path: string | null
  readonly error: string
  /** The smallest value found. Tried as it is: a seed would mean another one once the generators change. */
  readonly value: Value
}

/**
 * Tries a property on `runs` values, after those in `seeds/` that failed before. A value that fails is made
 * smaller and kept there. Values must be plain data, which JSON gives back as they were.
 */
export async function checkProperty<Value>(
  property: string,
  runs: number,
  values: fc.Arbitrary<Value>,
  test: (value: Value) => Promise<void>,
): Promise<void> {
  for (const { value } of readKept<Value>(property)) await test(value)
  const seed = givenSeed === undefined ? Date.now() % 2 ** 31 : Number(givenSeed)
  const numRuns = Math.ceil(runs * runsFactor)
  console.log(`${property}: seed ${seed}, ${numRuns} runs`)
  const details = await fc.check(fc.asyncProperty(values, test), { seed, numRuns })
  if (!details.failed) return
  const error = fc.defaultReportMessage(details) ?? 'failed'
  const value = details.counterexample?.[0]
  if (value !== undefined) keep({ property, seed, path: details.counterexamplePath, error, value })
  throw new Error(error, { cause: details.errorInstance })
}

function readKept<Value>(property: string): readonly KeptCase<Value>[] {
  mkdirSync(folder, { recursive: true })
  return readdirSync(folder)
    .sort()
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as KeptCase<Value>)
    .filter((kept) => kept.property === property)
}

function keep(kept: KeptCase<unknown>): void {
  const name = `${kept.property.replaceAll(' ', '-')}-${kept.seed}.json`
  writeFileSync(join(folder, name), `${JSON.stringify(kept, undefined, 2)}\n`)
}
