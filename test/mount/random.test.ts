import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'
import { Random, randomStep, type Step } from './random/step.ts'
import { describeTree, Walker } from './random/walker.ts'

/** `CAIRN_RUNS=50 npx vitest run test/mount/random.test.ts` for more; the seed is printed. */
const runs = Number(process.env['CAIRN_RUNS'] ?? 1)
const firstSeed = Number(process.env['CAIRN_SEED'] ?? (runs > 1 ? Date.now() % 2 ** 31 : 1))
const steps = 250
/** A kill costs seconds. */
const kills = 2

describe.skipIf(noMount)('random operations on two mounts in turn', () => {
  let site: Site
  let mounts: SiteMount[]
  let host: string

  beforeEach(async () => {
    site = await Site.open()
    mounts = [await site.mount('/'), await site.mount('/')]
    host = mkdtempSync(join(tmpdir(), 'cairn-host-'))
  })
  afterEach(async () => {
    rmSync(host, { recursive: true })
    await site.close()
  })

  /** Each step on a mount and on the host's file system: the same answer, and the same trees at the end. */
  async function play(seed: number, before: (step: number) => Promise<void>): Promise<void> {
    console.log(`two mounts: seed ${seed}`)
    const random = new Random(seed)
    const model = new Walker(host)
    const walkers = mounts.map(({ directory }) => new Walker(directory))
    const done: Step[] = []
    /** Whoever has a file open. */
    let holder: Walker | undefined
    try {
      for (let i = 0; i < steps; i++) {
        await before(i)
        const step = randomStep(random)
        done.push(step)
        let walker = walkers[random.below(2)]!
        if (step.type === 'open') {
          holder?.close()
          holder = walker
        } else if (step.type.endsWith('Open') && holder) walker = holder
        expect(walker.take(step)).toEqual(model.take(step))
      }
      await endsEqual(model, walkers)
    } catch (error) {
      const last = done.slice(-12).map((step) => JSON.stringify(step))
      const errors = mounts.map((mount) => readFileSync(mount.path('.cairn', 'errors'), 'utf8'))
      const text = `seed ${seed}, after\n${last.join('\n')}\n${errors.join('')}`
      throw new Error(text, { cause: error })
    } finally {
      for (const walker of [model, ...walkers]) walker.close()
    }
  }

  async function endsEqual(model: Walker, walkers: readonly Walker[]): Promise<void> {
    const expected = describeTree(host)
    for (const { directory } of mounts) expect(describeTree(directory)).toEqual(expected)
    for (const walker of [model, ...walkers]) walker.close()
    for (const mount of mounts) await mount.drain()
    const later = await site.mount('/', '--read-only')
    expect(describeTree(later.directory)).toEqual(expected)
  }

  for (let run = 0; run < runs; run++) {
    it(`answers and trees are the host's (run ${run + 1})`, () =>
      play(firstSeed + run, () => Promise.resolve()))

    it(`also when daemons are killed in between (run ${run + 1})`, () =>
      play(firstSeed + run + 1_000_000, async (step) => {
        if (step % Math.floor(steps / (kills + 1)) !== 50) return
        const mount = mounts[step % 2]!
        process.kill((await mount.status()).pid, 'SIGKILL')
      }))
  }
})
