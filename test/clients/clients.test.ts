// Several mounts, HTTP and the SDK at once, on the same few files, while layers are committed and processes are killed.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { whyNoMariadb } from '@cairn/server/testing'
import { describe, expect, it } from 'vitest'
import { noMount } from '../mount/fixture.ts'
import { type History, makeHistory } from './history.ts'
import { describe as tell, playHistory } from './player.ts'
import { shrink } from './shrink.ts'

/** Histories that failed once, shortened. Each is played again in every run; keep the file when the fault is fixed. */
const folder = join(import.meta.dirname, 'histories')
/** `CAIRN_RUNS=50 npx vitest run test/clients` for more. */
const runs = Number(process.env['CAIRN_RUNS'] ?? 1)
/** The same in every ordinary run, so that red means changed; longer runs look for new cases each time. */
const firstSeed = Number(process.env['CAIRN_SEED'] ?? (runs > 1 ? Date.now() % 2 ** 31 : 1))
const turns = runs > 1 ? 200 : 40
/** How long a failure is shortened: a run that fails may take its time. */
const shrinkMs = 600_000
/** Ends a hang, nothing else. */
const timeout = 3_600_000

interface Kept {
  readonly fault: string
  readonly history: History
}

/** Plays it; keeps the shortest history that fails as it does. */
async function playSeed(seed: number, killsDatabase = false): Promise<void> {
  console.log(`clients: seed ${seed}`)
  const history = makeHistory(seed, turns, killsDatabase)
  const fault = await playHistory(history)
  if (fault === undefined) return
  console.log(`seed ${seed}: ${fault}\nshortening it`)
  const fails = async (shorter: History): Promise<boolean> =>
    (await playHistory(shorter)) !== undefined
  const shortest = await shrink(history, fails, { tries: 2, endMs: Date.now() + shrinkMs })
  const path = join(folder, `${seed}.json`)
  writeFileSync(
    path,
    `${JSON.stringify({ fault, history: shortest } satisfies Kept, undefined, 2)}\n`,
  )
  throw new Error(`seed ${seed}: ${fault}\nkept as ${path}:\n${tellAll(shortest)}`)
}

function tellAll(history: History): string {
  return history
    .map(({ ops, kill }) => [...ops.map(tell), ...(kill ? [JSON.stringify(kill)] : [])].join(' | '))
    .join('\n')
}

mkdirSync(folder, { recursive: true })

describe.skipIf(noMount)('many clients at once', () => {
  for (const name of readdirSync(folder).sort())
    it(`what failed once, ${name}, does not`, { timeout }, async () => {
      const { history } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Kept
      expect(await playHistory(history), tellAll(history)).toBeUndefined()
    })

  for (let run = 0; run < runs; run++)
    it(`every answer is one that a plain model allows (run ${run + 1})`, { timeout }, () =>
      playSeed(firstSeed + run),
    )

  // Long runs only: a database server takes a while to start.
  for (let run = 0; run < runs && runs > 1; run++)
    it.skipIf(whyNoMariadb)(
      `the same on a MariaDB that is killed now and then (run ${run + 1})`,
      { timeout },
      () => playSeed(firstSeed + run, true),
    )
})
