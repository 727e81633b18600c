import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'

const MiB = 1 << 20
const windowBytes = 64 * MiB
const windowMs = 5000

describe.skipIf(noMount)('more than fits into the window, while the server answers nothing', () => {
  let site: Site
  let mount: SiteMount

  beforeEach(async () => {
    site = await Site.open()
    mount = await site.mount('/')
    await mount.sh('echo before > before')
    await mount.drain()
    site.haltServer()
  })
  afterEach(async () => {
    site.resumeServer()
    await site.close()
  })

  /** The number, once it has been the same for several looks. */
  async function whenStill(look: () => number): Promise<number> {
    const seen: number[] = []
    await expect
      .poll(
        () => {
          seen.push(look())
          return seen.length > 4 && new Set(seen.slice(-4)).size === 1
        },
        { interval: 200 },
      )
      .toBe(true)
    return seen.at(-1)!
  }

  it('bytes: the writer waits when the window is full, goes on with the server, and every byte arrives', async () => {
    const source = join(site.directory, 'source')
    const writing = mount.sh(
      `head -c ${96 * MiB} /dev/urandom > ${source}; dd if=${source} of=large bs=1M status=none; echo done`,
    )
    await expect.poll(() => existsSync(mount.path('large'))).toBe(true)
    const sizeOf = (): number => statSync(mount.path('large')).size
    await expect.poll(sizeOf).toBeGreaterThan(windowBytes / 2)
    const written = await whenStill(sizeOf)
    expect(written).toBeLessThanOrEqual(windowBytes + MiB)
    expect((await mount.status()).pendingBytes).toBeGreaterThan(windowBytes / 2)
    site.resumeServer()
    expect(await writing).toBe('done\n')
    await mount.drain()
    const later = await site.mount('/', '--read-only')
    expect(readFileSync(later.path('large')).equals(readFileSync(source))).toBe(true)
  })

  it('time: what is older than the window makes writers wait; afterwards all is there, in order, once', async () => {
    const ticks = join(site.directory, 'ticks')
    const writing = mount.sh(
      `i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo $i >> log; echo $i > ${ticks}; sleep 0.03; done; echo done`,
    )
    const tick = (): number => (existsSync(ticks) ? Number(readFileSync(ticks, 'utf8')) : 0)
    await expect.poll(tick).toBeGreaterThan(20)
    await expect.poll(async () => (await mount.status()).pendingMs).toBeGreaterThan(windowMs + 500)
    const reached = await whenStill(tick)
    expect(reached).toBeLessThan(300)
    site.resumeServer()
    expect(await writing).toBe('done\n')
    await mount.drain()
    const later = await site.mount('/', '--read-only')
    const lines = Array.from({ length: 300 }, (_, i) => `${i + 1}\n`)
    expect(readFileSync(later.path('log'), 'utf8')).toBe(lines.join(''))
  })
})
