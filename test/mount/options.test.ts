import { chownSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'
import { pattern } from './questions/place.ts'

const MiB = 1 << 20
const segmentBytes = 32 * MiB
const isRoot = process.getuid?.() === 0

describe.skipIf(noMount)('options of a mount, and what its status tells', () => {
  let site: Site

  beforeEach(async () => {
    site = await Site.open()
  })
  afterEach(async () => {
    site.resumeServer()
    await site.close()
  })

  const ownerOf = (mount: SiteMount, name: string): number[] => {
    const { uid, gid } = statSync(mount.path(name))
    return [uid, gid]
  }

  it.skipIf(!isRoot)("--uid and --gid: root's files are theirs there, and back", async () => {
    const plain = await site.mount('/')
    await plain.sh(
      'echo x > roots; echo x > theirs; chown 1234:2345 theirs; mkdir others; chown 7:8 others',
    )
    const mapped = await site.mount('/', '--uid', '1234', '--gid', '2345')
    expect(['roots', 'theirs', 'others'].map((name) => ownerOf(mapped, name))).toEqual([
      [1234, 2345],
      [0, 0],
      [7, 8],
    ])
    writeFileSync(mapped.path('made'), '')
    chownSync(mapped.path('others'), 1234, 2345)
    expect(ownerOf(plain, 'made')).toEqual([1234, 2345])
    expect(ownerOf(plain, 'others')).toEqual([0, 0])
  })

  it('--cache-size: but for the segment that is being filled it holds no more, and what it let go can be read', async () => {
    const mount = await site.mount('/', '--cache-size', '64')
    const bytes = pattern(40 * MiB)
    for (const name of ['f1', 'f2', 'f3', 'f4']) {
      writeFileSync(mount.path(name), bytes)
      await mount.drain()
    }
    const { cacheBytes, cacheBytesMax } = await mount.status()
    expect(cacheBytesMax).toBe(64 * MiB)
    expect(cacheBytes).toBeGreaterThan(MiB)
    expect(cacheBytes).toBeLessThanOrEqual(cacheBytesMax + segmentBytes)
    for (const name of ['f1', 'f2', 'f3', 'f4'])
      expect(readFileSync(mount.path(name)).equals(bytes)).toBe(true)
    expect((await mount.status()).cacheBytes).toBeLessThanOrEqual(cacheBytesMax + segmentBytes)
  })

  it('status: its processes, its lease, and what is not yet at the server', async () => {
    const mount = await site.mount('/')
    writeFileSync(mount.path('before'), '')
    await mount.drain()
    const { daemon, supervisor } = mount.processes()
    const nothing = { pendingOps: 0, pendingBytes: 0, pendingMs: 0 }
    const well = { pid: daemon, supervisorPid: supervisor, standing: 'lease', errors: [] }
    expect(await mount.status()).toMatchObject({ ...well, ...nothing, connected: true })
    site.haltServer()
    writeFileSync(mount.path('f'), Buffer.alloc(10_000, 1))
    const behind = await mount.status()
    expect(behind).toMatchObject(well)
    expect(behind.pendingOps).toBeGreaterThanOrEqual(2)
    expect(behind.pendingBytes).toBeGreaterThan(10_000)
    expect(behind.pendingMs).toBeGreaterThan(0)
    site.resumeServer()
    await mount.drain()
    expect(await mount.status()).toMatchObject({ ...well, ...nothing })
    const other = await site.mount('/')
    writeFileSync(other.path('g'), '')
    expect(await mount.status()).toMatchObject({ ...well, standing: 'lease' })
    expect(await other.status()).toMatchObject({ standing: 'shared' })
  })
})
