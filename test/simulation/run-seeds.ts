import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { simulate } from './simulate.ts'

/** Seeds that failed once. Each is tried again in every run; keep the file when the fault is mended. */
const folder = join(import.meta.dirname, 'seeds')
/** For longer runs: `CAIRN_RUNS=50 npx vitest run test/simulation`. */
const runsFactor = Number(process.env['CAIRN_RUNS'] ?? 1)
/** For one story again, with its trace: the seed that a failing run printed. */
const givenSeed = process.env['CAIRN_SEED']
const traceLinesMax = 400

interface KeptSeed {
  readonly seed: number
  readonly faults: readonly string[]
}

export async function runKeptSeeds(): Promise<void> {
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(folder).sort()) {
    const { seed } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as KeptSeed
    await runSeed(seed)
  }
}

/**
 * A thousand stories from `first` on, the same in every run: what is red today was not red yesterday by luck. Longer
 * runs, which look for new ones, begin somewhere else each time.
 */
export async function runSeeds(first: number, count: number): Promise<void> {
  if (givenSeed !== undefined) return runSeed(Number(givenSeed))
  const begin = runsFactor > 1 ? (Date.now() * 1000 + (process.pid % 1000)) % 2 ** 31 : first
  const end = begin + Math.ceil(count * runsFactor)
  console.log(`simulation: seeds ${begin} to ${end - 1}`)
  for (let seed = begin; seed < end; seed++) await runSeed(seed)
}

async function runSeed(seed: number): Promise<void> {
  const { faults } = await simulate(seed)
  if (faults.length === 0) return
  keep({ seed, faults: faults.slice(0, 10) })
  const { trace } = await simulate(seed, true)
  const path = join(tmpdir(), `cairn-simulation-${seed}.txt`)
  writeFileSync(path, [...trace, ...faults, ''].join('\n'))
  throw new Error(
    [
      `seed ${seed}: ${faults.join('\n')}`,
      `the whole trace is in ${path}; again: CAIRN_SEED=${seed} npx vitest run test/simulation`,
      ...trace.slice(-traceLinesMax),
    ].join('\n'),
  )
}

function keep(kept: KeptSeed): void {
  writeFileSync(join(folder, `${kept.seed}.json`), `${JSON.stringify(kept, undefined, 2)}\n`)
}
