// Programs in several mounts and clients of the API, all at once and as fast as they can.
import { describe, expect, it } from 'vitest'
import { noMount } from '../mount/fixture.ts'
import { Crowd, type Trouble } from './crowd.ts'

/** `CAIRN_RUNS=20 npx vitest run test/clients/crowd` for more. */
const runs = Number(process.env['CAIRN_RUNS'] ?? 1)
const firstSeed = Number(process.env['CAIRN_SEED'] ?? 1)
const ms = runs > 1 ? 30_000 : 3000
const troubles: readonly Trouble[] =
  runs > 1
    ? ['nothing', 'daemons are killed', 'daemons are frozen', 'the server is killed']
    : ['nothing', 'daemons are frozen']
/** Ends a hang, nothing else. */
const timeout = 3_600_000

describe.skipIf(noMount)('programs in several mounts and clients of the API at once', () => {
  for (const trouble of troubles)
    for (let run = 0; run < runs; run++)
      it(
        `what each was told is so, while ${trouble === 'nothing' ? 'all goes well' : trouble} (run ${run + 1})`,
        { timeout },
        async () => {
          const seed = firstSeed + run
          const { ledger, counts } = await Crowd.play({ seed, ms, trouble })
          console.log(`crowd: seed ${seed}`, Object.fromEntries(counts))
          expect(ledger.faults.slice(0, 20)).toEqual([])
        },
      )
})
