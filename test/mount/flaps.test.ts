import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'
import { FlappingProxy } from './flapping-proxy.ts'
import { walkAtOnce } from './random/at-once.ts'
import { everyRun, playSeed, seedsOf } from './random/seeds.ts'
import { expectSameTrees } from './random/trees.ts'

/** Alone, a mount acknowledges by itself and is quick; together, every step asks the server, which must be reached now and then. */
const paces = [
  { count: 1, cutEveryMs: 60, steps: 1500, lines: 2000 },
  { count: 2, cutEveryMs: 300, steps: 80, lines: 20 },
]

describe.skipIf(noMount).each(paces)(
  'a network that breaks again and again, mounts: $count',
  (pace) => {
    const { count, cutEveryMs, steps, lines } = pace
    let site: Site
    let proxy: FlappingProxy
    let mounts: SiteMount[]
    let host: string

    beforeEach(async () => {
      site = await Site.open()
      proxy = await FlappingProxy.start(site.url)
      mounts = []
      host = mkdtempSync(join(tmpdir(), 'cairn-host-'))
      const at = ['--server', proxy.url, '--api-key', site.key, '--workspace', 'demo']
      for (let i = 0; i < count; i++) mounts.push(await site.mount('/', ...at))
    })
    afterEach(async () => {
      rmSync(host, { recursive: true })
      await site.close()
      await proxy.close()
    })

    /** Gives how many connections were cut meanwhile. */
    async function cutDuring(work: () => Promise<unknown>): Promise<number> {
      proxy.begin(cutEveryMs)
      await work()
      return proxy.end()
    }

    const story = `flaps of ${count}`
    for (const seed of seedsOf(story))
      it(`everything arrives once and in order: answers and trees are the host's (seed ${seed})`, () =>
        playSeed(story, seed, async () => {
          let cuts = 0
          await walkAtOnce(mounts, host, { seed, steps }, async (walk) => {
            cuts = await cutDuring(walk)
          })
          expect(cuts).toBeGreaterThan(count)
          await expectSameTrees(site, mounts, host)
        }))

    it.each(everyRun)(
      'what several programs append to one file is there once, and in the order of each (run %i)',
      async () => {
        const append = mounts.map(
          (mount, index) => () =>
            mount.sh(`for i in $(seq ${lines}); do echo ${index} $i >> log; done`),
        )
        const cuts = await cutDuring(() => Promise.all(append.map((run) => run())))
        expect(cuts).toBeGreaterThan(count)
        for (const mount of mounts) await mount.drain()
        const later = await site.mount('/', '--read-only')
        const seen = readFileSync(later.path('log'), 'utf8').trim().split('\n')
        for (const index of mounts.keys())
          expect(seen.filter((line) => line.startsWith(`${index} `))).toEqual(
            Array.from({ length: lines }, (_, i) => `${index} ${i + 1}`),
          )
        expect(seen).toHaveLength(count * lines)
      },
    )
  },
)
