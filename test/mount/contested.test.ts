// Two mounts that change one directory at the same moment.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'

/** Before names were asked for each time, about one round in 200 was wrong. */
const rounds = 8 * Number(process.env['CAIRN_RUNS'] ?? 1)

describe.skipIf(noMount)('a directory in which two mounts make files all the time', () => {
  let site: Site
  let a: SiteMount
  let b: SiteMount

  beforeEach(async () => {
    site = await Site.open()
    a = await site.mount('/')
    b = await site.mount('/')
  })
  afterEach(() => site.close())

  it('what one has made is there on the other, also where that looked for it just before', async () => {
    mkdirSync(a.path('d'))
    const stop = join(site.directory, 'stop')
    const busy = [a, b].map((mount, index) =>
      mount.sh(`until [ -e ${stop} ]; do echo 1 > d/busy-${index}; rm d/busy-${index}; done`),
    )
    try {
      for (let round = 0; round < rounds; round++) {
        const [from, to] = round % 2 === 0 ? [a, b] : [b, a]
        expect(existsSync(to.path('d', `${round}`))).toBe(false)
        mkdirSync(from.path('d', `${round}`))
        expect(existsSync(to.path('d', `${round}`))).toBe(true)
        await setImmediate()
      }
    } finally {
      writeFileSync(stop, '')
      await Promise.all(busy)
    }
  })
})
