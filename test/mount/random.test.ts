import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'
import { walkAtOnce } from './random/at-once.ts'
import { playSeed, seedsOf } from './random/seeds.ts'
import { Random, randomStep, type Step } from './random/step.ts'
import { expectSameTrees } from './random/trees.ts'
import { describeTree, Walker } from './random/walker.ts'

const steps = 250
/** A kill costs seconds. */
const kills = 2
/** Everything that nothing needs is dropped after every few operations. */
const littleMemory = ['--memory', '0']
/** Some of the directories in which the steps are taken. */
const localDirectories = ['--local-only', 'd', '--local-only', 'e']

/** Against the host's file system: the same answers, and the same trees at the end. */
describe.skipIf(noMount)('random operations', () => {
  let site: Site
  let mounts: SiteMount[]
  let host: string

  beforeEach(async () => {
    site = await Site.open()
    mounts = [await site.mount('/')]
    host = mkdtempSync(join(tmpdir(), 'cairn-host-'))
  })
  afterEach(async () => {
    site.resumeServer()
    rmSync(host, { recursive: true })
    await site.close()
  })

  function itHolds(story: string, fact: string, play: (seed: number) => Promise<void>): void {
    for (const seed of seedsOf(story))
      it(`${fact} (seed ${seed})`, () =>
        playSeed(story, seed, async () => {
          try {
            await play(seed)
            await expectSameTrees(site, mounts, host)
          } catch (error) {
            const errors = mounts.map((mount) => readFileSync(mount.path('.cairn/errors'), 'utf8'))
            throw new Error(`${String(error)}\n${errors.join('')}`, { cause: error })
          }
        }))
  }

  /** Each step on one of two mounts, and then on the host. */
  async function playInTurn(
    seed: number,
    before: (step: number) => Promise<void>,
    options: readonly string[] = [],
  ): Promise<void> {
    mounts.push(await site.mount('/', ...options))
    const random = new Random(seed)
    const model = new Walker(host)
    const walkers = mounts.map(({ directory }) => new Walker(directory))
    const done: Step[] = []
    /** Processes that have a file open. */
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
    } catch (error) {
      const last = done.slice(-12).map((step) => JSON.stringify(step))
      throw new Error(`${String(error)}, after\n${last.join('\n')}`, { cause: error })
    } finally {
      for (const walker of [model, ...walkers]) walker.close()
    }
  }

  itHolds('in turn', 'on two mounts in turn', (seed) => playInTurn(seed, () => Promise.resolve()))

  itHolds('in turn killed', 'on two mounts in turn, and daemons are killed in between', (seed) =>
    playInTurn(seed + 1_000_000, killNowAndThen),
  )

  itHolds(
    'in turn with classes',
    'on two mounts in turn, one with local directories, and daemons are killed in between',
    (seed) => playInTurn(seed + 2_000_000, killNowAndThen, localDirectories),
  )

  itHolds(
    'in turn with little memory',
    'on two mounts in turn that forget what they know, and daemons are killed in between',
    async (seed) => {
      await remountWithLittleMemory()
      await playInTurn(seed + 3_000_000, killNowAndThen, littleMemory)
    },
  )

  itHolds('at once with little memory', 'on two mounts at once that forget', async (seed) => {
    await remountWithLittleMemory()
    mounts.push(await site.mount('/', ...littleMemory))
    await walkAtOnce(mounts, host, { seed, steps })
  })

  async function remountWithLittleMemory(): Promise<void> {
    await mounts[0]!.unmount()
    mounts = [await site.mount('/', ...littleMemory)]
  }

  async function killNowAndThen(step: number): Promise<void> {
    if (step % Math.floor(steps / (kills + 1)) !== 50) return
    const mount = mounts[step % 2]!
    process.kill(mount.processes().daemon, 'SIGKILL')
    // Until then its kernel answers from memory, whatever the other does: see restart.test.ts.
    await daemonAtWork(mount)
  }

  itHolds('at once', 'on two mounts at once, each in a directory of its own', async (seed) => {
    mounts.push(await site.mount('/'))
    await walkAtOnce(mounts, host, { seed, steps })
  })

  itHolds(
    'at once killed',
    'on two mounts at once, and their daemons are killed meanwhile',
    async (seed) => {
      mounts.push(await site.mount('/'))
      await walkAtOnce(mounts, host, { seed, steps }, async (walk) => {
        const walking = walk()
        for (const mount of mounts) process.kill(await daemonAtWork(mount), 'SIGKILL')
        await walking
      })
    },
  )

  itHolds(
    'local killed',
    'with local directories, and the daemon is killed while it holds them back',
    async (seed) => {
      await mounts[0]!.unmount()
      const mount = await site.mount('/', ...localDirectories)
      mounts = [mount]
      for (let kill = 0; kill < kills; kill++) {
        await walkAtOnce(mounts, host, { seed: seed + kill, steps })
        for (const directory of [mount.directory, host]) {
          mkdirSync(join(directory, 'last/d'), { recursive: true })
          writeFileSync(join(directory, 'last/d/file'), `${kill}`)
        }
        expect((await mount.status()).onlyHere!.local.ops).toBeGreaterThan(0)
        process.kill(await daemonAtWork(mount), 'SIGKILL')
        expect(describeTree(mount.directory)).toEqual(describeTree(host))
      }
    },
  )

  itHolds(
    'lease killed',
    'under the lease, and the daemon is killed before the server has what it acknowledged',
    async (seed) => {
      const [mount] = mounts as [SiteMount]
      for (let kill = 0; kill < kills; kill++) {
        // All of it is known then, so that nothing must be fetched while the server does not
        // answer.
        expect(describeTree(mount.directory)).toEqual(describeTree(host))
        await walkAtOnce(mounts, host, { seed: seed + kill, steps }, async (walk) => {
          const daemon = await daemonAtWork(mount)
          site.haltServer()
          const walking = walk()
          await expect.poll(async () => (await mount.status()).pendingOps).toBeGreaterThan(0)
          expect((await mount.status()).standing).toBe('lease')
          process.kill(daemon, 'SIGKILL')
          site.resumeServer()
          await walking
        })
      }
    },
  )

  /** The process id of the daemon that answers programs now. */
  async function daemonAtWork(mount: SiteMount): Promise<number> {
    let daemon = 0
    await expect
      .poll(async () => {
        const status = await mount.status().catch(() => undefined)
        daemon = status?.pid ?? 0
        return status?.connected
      })
      .toBe(true)
    return daemon
  }
})
