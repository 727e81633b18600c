import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Story } from './attempts/story.ts'
import { noMount, Site } from './fixture.ts'

/** `CAIRN_RUNS=50 npx vitest run test/mount/attempts.test.ts` for more; the seed is printed. */
const runs = Number(process.env['CAIRN_RUNS'] ?? 1)
const firstSeed = Number(process.env['CAIRN_SEED'] ?? (runs > 1 ? Date.now() % 2 ** 31 : 1))
const steps = 45
/** So many steps between two kills, which cost seconds. */
const stepsPerKill = 11
/** Ends a hang, nothing else. */
const timeout = 600_000
/** Collected every second; nothing that is done here takes as long as the grace time. */
const keep = { graceMs: 4000, retentionMs: 4000 }

describe.skipIf(noMount)('attempts while everything happens at once', () => {
  let site: Site

  beforeEach(async () => {
    site = await Site.open({ leaseMs: 10_000, keep })
  })
  afterEach(() => site.close())

  async function play(seed: number): Promise<void> {
    console.log(`attempts: seed ${seed}`)
    const story = new Story(site, seed)
    try {
      await story.begin()
      for (let step = 1; step <= steps; step++) {
        await story.step()
        if (step % (2 * stepsPerKill) === stepsPerKill) await story.killDaemon()
        if (step % (2 * stepsPerKill) === 0) await story.killServer()
      }
      await story.compareAll()
    } catch (error) {
      throw new Error(`seed ${seed}, after\n${story.done.join('\n')}`, { cause: error })
    }
  }

  for (let run = 0; run < runs; run++)
    it(
      `every branch is what the naive merge says, and nothing reachable is lost (run ${run + 1})`,
      { timeout },
      async () => {
        await play(firstSeed + run)
        await site.stopServer()
        const { stdout } = await site.cairn([
          'server',
          'check',
          '--data',
          join(site.directory, 'data'),
        ])
        expect(stdout).toMatch(/: 0 problems$/m)
      },
    )
})
