import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'
import { FlappingProxy } from './flapping-proxy.ts'
import { walkAtOnce } from './random/at-once.ts'
import { everyRun, playSeed, seedsOf } from './random/seeds.ts'
import { expectSameTrees } from './random/trees.ts'
import { keyFile } from '@cairn/server/testing/key-file'

/** Alone, a mount acknowledges by itself and is quick; together, every step asks the server, which must be reached now and then. */
const paces = [
  { count: 1, cutEveryMs: 400, steps: 500 },
  { count: 2, cutEveryMs: 300, steps: 50 },
]

const cutsMin = 8

describe.skipIf(noMount).each(paces)(
  'a network that breaks again and again, mounts: $count',
  (pace) => {
    const { count, cutEveryMs, steps } = pace
    let site: Site
    let proxy: FlappingProxy
    let mounts: SiteMount[]
    let host: string

    beforeEach(async () => {
      site = await Site.open()
      proxy = await FlappingProxy.start(site.url)
      mounts = []
      host = mkdtempSync(join(tmpdir(), 'cairn-host-'))
      const at = ['--server', proxy.url, '--api-key-file', keyFile(site.key), '--workspace', 'demo']
      for (let i = 0; i < count; i++) mounts.push(await site.mount('/', ...at))
    })
    afterEach(async () => {
      rmSync(host, { recursive: true })
      await site.close()
      await proxy.close()
    })

    const story = `flaps of ${count}`
    for (const seed of seedsOf(story))
      it(`everything arrives once and in order: answers and trees are the host's (seed ${seed})`, () =>
        playSeed(story, seed, async () => {
          proxy.begin(cutEveryMs)
          for (let part = 0; (await proxy.cuts()) < cutsMin; part++)
            await walkAtOnce(mounts, host, { seed: seed + part, steps })
          proxy.end()
          await expectSameTrees(site, mounts, host)
        }))

    it.each(everyRun)(
      'what several programs append to one file is there once, and in the order of each (run %i)',
      async () => {
        const stop = join(site.directory, 'stop')
        proxy.begin(cutEveryMs)
        const appending = mounts.map((mount, index) =>
          mount.sh(
            `i=0; until [ -e ${stop} ]; do i=$((i+1)); echo ${index} $i >> log; done; echo $i`,
          ),
        )
        await expect.poll(() => proxy.cuts()).toBeGreaterThanOrEqual(cutsMin)
        writeFileSync(stop, '')
        const counts = await Promise.all(appending)
        proxy.end()
        for (const mount of mounts) await mount.drain()
        const later = await site.mount('/', '--read-only')
        const seen = readFileSync(later.path('log'), 'utf8').trim().split('\n')
        for (const [index, made] of counts.entries())
          expect(seen.filter((line) => line.startsWith(`${index} `))).toEqual(
            Array.from({ length: Number(made) }, (_, i) => `${index} ${i + 1}`),
          )
        expect(seen).toHaveLength(counts.reduce((sum, made) => sum + Number(made), 0))
      },
    )
  },
)
