// Git, npm, SQLite and tar in three mounts at once.
import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { noMount } from '../mount/fixture.ts'
import { Software } from './software.ts'

/** `CAIRN_RUNS=20 npx vitest run test/clients/software` for more. */
const runs = Number(process.env['CAIRN_RUNS'] ?? 1)
const firstSeed = Number(process.env['CAIRN_SEED'] ?? 1)
const rounds = runs > 1 ? 8 : 1
/** Ends a hang, nothing else. */
const timeout = 3_600_000

const missing = ['git', 'npm', 'sqlite3'].filter(
  (program) => spawnSync('which', [program]).status !== 0,
)
const cannot = noMount ?? (missing.length > 0 ? `there is no ${missing.join(', ')}` : undefined)

describe.skipIf(cannot !== undefined)(
  'programs in three mounts, daemons and the server killed',
  () => {
    for (let run = 0; run < runs; run++)
      it(
        `none of them notices, and all mounts and HTTP have one tree (run ${run + 1})`,
        { timeout },
        async () => {
          const seed = firstSeed + run
          const { faults, counts } = await Software.play({ seed, rounds })
          console.log(`software: seed ${seed}`, counts)
          expect(faults.slice(0, 20)).toEqual([])
        },
      )
  },
)
