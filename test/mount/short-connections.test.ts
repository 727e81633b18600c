import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CuttingProxy } from './cutting-proxy.ts'
import { noMount, Site, type SiteMount } from './fixture.ts'
import { keyFile } from '@cairn/server/testing/key-file'

const MiB = 1 << 20

/** Where a connection carries as little as that, each batch and each block of content takes several. */
const KiB = 1 << 10

describe.skipIf(noMount)('a link on which each connection carries a mebibyte', () => {
  let site: Site
  let proxy: CuttingProxy
  let mount: SiteMount

  beforeEach(async () => {
    site = await Site.open()
    proxy = await CuttingProxy.start(site.url)
    const at = ['--server', proxy.url, '--api-key-file', keyFile(site.key), '--workspace', 'demo']
    mount = await site.mount('/', ...at, '--durability', 'interactive')
    writeFileSync(mount.path('first'), '')
    await mount.drain()
    await proxy.limit(0)
  })
  afterEach(async () => {
    await proxy.limit(Infinity)
    await site.close()
    await proxy.close()
  })

  it('twenty-four times as much in large files arrives, some with each connection', async () => {
    const file = randomBytes(8 * MiB)
    for (let i = 0; i < 3; i++) writeFileSync(mount.path(`f${i}`), file)
    const { pendingBytes } = await mount.status()
    expect(pendingBytes).toBeGreaterThan(24 * MiB)
    const before = await proxy.limit(MiB)
    await mount.drain()
    const cuts = (await proxy.limit(Infinity)) - before
    // A block of 256 KiB at least, and some connections while the mount finds out how much they carry.
    expect(cuts).toBeLessThan(pendingBytes / (MiB / 4) + 20)
    expect(cuts).toBeGreaterThan(pendingBytes / MiB / 2)
  })

  it('thousands of small files arrive', async () => {
    mkdirSync(mount.path('d'))
    for (let i = 0; i < 8000; i++) writeFileSync(mount.path(`d/${i}`), `${i}`)
    await proxy.limit(MiB)
    await mount.drain()
    await proxy.limit(Infinity)
    const { stdout } = await site.cairn(['fs', 'cat', ':/d/7999'])
    expect(stdout).toBe('7999')
  })

  it('batches and blocks that were made for a better link arrive with 96 KiB for each connection', async () => {
    mkdirSync(mount.path('d'))
    const small = randomBytes(50 * KiB)
    for (let i = 0; i < 40; i++) writeFileSync(mount.path(`d/${i}`), small)
    const large = randomBytes(MiB)
    writeFileSync(mount.path('large'), large)
    const { pendingBytes } = await mount.status()
    expect(pendingBytes).toBeGreaterThan(2 * MiB)
    const before = await proxy.limit(96 * KiB)
    await mount.drain()
    const cuts = (await proxy.limit(Infinity)) - before
    expect(cuts).toBeGreaterThan(pendingBytes / (96 * KiB) / 2)
    const again = await site.mount('/')
    expect(readFileSync(again.path('d/39')).equals(small)).toBe(true)
    expect(readFileSync(again.path('large')).equals(large)).toBe(true)
  })
})
