import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Plot, simulate } from './simulate.ts'

/** Seeds that failed once. Each is tried again in every run; keep the file when the fault is fixed. */
function folderOf(plot: Plot): string {
  const folder = join(import.meta.dirname, plot === 'sessions' ? 'seeds' : `${plot}-seeds`)
  mkdirSync(folder, { recursive: true })
  return folder
}

/** For longer runs: `CAIRN_RUNS=50 npx vitest run test/simulation`. */
const runsFactor = Number(process.env['CAIRN_RUNS'] ?? 1)
/** For one story again, with its trace: the seed that a failing run printed. */
const givenSeed = process.env['CAIRN_SEED']
const traceLinesMax = 400

interface KeptSeed {
  readonly seed: number
  readonly faults: readonly string[]
}

export async function runKeptSeeds(plot: Plot): Promise<void> {
  const folder = folderOf(plot)
  for (const name of readdirSync(folder).sort()) {
    const { seed } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as KeptSeed
    await runSeed(plot, seed)
  }
}

/**
 * As many stories from `first` on, the same in every run: what is red today was not red yesterday by luck. Longer
 * runs, which look for new ones, begin somewhere else each time.
 */
export async function runSeeds(plot: Plot, first: number, count: number): Promise<void> {
  if (givenSeed !== undefined) return runSeed(plot, Number(givenSeed))
  const begin = runsFactor > 1 ? (Date.now() * 1000 + (process.pid % 1000)) % 2 ** 31 : first
  const end = begin + Math.ceil(count * runsFactor)
  console.log(`simulation (${plot}): seeds ${begin} to ${end - 1}`)
  for (let seed = begin; seed < end; seed++) await runSeed(plot, seed)
}

async function runSeed(plot: Plot, seed: number): Promise<void> {
  const { faults } = await simulate(seed, plot)
  if (faults.length === 0) return
  keep(plot, { seed, faults: faults.slice(0, 10) })
  const { trace } = await simulate(seed, plot, true)
  const path = join(tmpdir(), `cairn-simulation-${plot}-${seed}.txt`)
  writeFileSync(path, [...trace, ...faults, ''].join('\n'))
  throw new Error(
    [
      `seed ${seed}: ${faults.join('\n')}`,
      `the whole trace is in ${path}; again: CAIRN_SEED=${seed} npx vitest run test/simulation`,
      ...trace.slice(-traceLinesMax),
    ].join('\n'),
  )
}

function keep(plot: Plot, kept: KeptSeed): void {
  writeFileSync(
    join(folderOf(plot), `${kept.seed}.json`),
    `${JSON.stringify(kept, undefined, 2)}\n`,
  )
}
