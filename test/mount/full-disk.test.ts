import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'
import { everyRun } from './random/seeds.ts'

const isRoot = process.getuid?.() === 0
const MiB = 1 << 20

describe.skipIf(noMount ?? !isRoot)('the disk of the cache is full', () => {
  let site: Site
  let mount: SiteMount
  let disk: string

  beforeEach(async () => {
    site = await Site.open()
    disk = join(site.directory, 'disk')
    mkdirSync(disk)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk])
    mount = await site.mount('/', '--cache-dir', disk)
  })
  afterEach(async () => {
    await mount.destroy()
    execFileSync('umount', ['-l', disk])
    await site.close()
  })

  function write(name: string, megabytes: number): string {
    try {
      writeFileSync(mount.path(name), Buffer.alloc(megabytes * MiB, name))
      return 'ok'
    } catch (error) {
      return (error as NodeJS.ErrnoException).code!
    }
  }

  it('more than the disk holds can be written while the server keeps up', async () => {
    for (let i = 0; i < 10; i++) {
      expect(write(`f${i}`, 2)).toBe('ok')
      await mount.drain()
    }
    for (let i = 0; i < 10; i++)
      expect(readFileSync(mount.path(`f${i}`)).equals(Buffer.alloc(2 * MiB, `f${i}`))).toBe(true)
  })

  it.each(everyRun)(
    'without a server a writer is told ENOSPC, what was acknowledged is not lost, and afterwards it goes on (run %i)',
    async () => {
      expect(write('before', 1)).toBe('ok')
      await site.stopServer('SIGKILL')
      const outcomes = [write('one', 4), write('two', 4), write('three', 4)]
      expect(outcomes.at(-1)).toBe('ENOSPC')
      const acknowledged = ['one', 'two', 'three'].filter((_, i) => outcomes[i] === 'ok')
      await site.startServer()
      await mount.drain()
      for (const name of ['before', ...acknowledged])
        expect(readFileSync(mount.path(name))[1000]).toBe(Buffer.alloc(1001, name)[1000])
      expect(write('after', 4)).toBe('ok')
      await mount.drain()
      const later = await site.mount('/')
      expect(readFileSync(later.path('after')).equals(Buffer.alloc(4 * MiB, 'after'))).toBe(true)
      for (const name of acknowledged)
        expect(readFileSync(later.path(name)).equals(Buffer.alloc(4 * MiB, name))).toBe(true)
    },
  )

  it.each(everyRun)(
    'a writer that waits for a slow server is told ENOSPC when the server goes away (run %i)',
    async () => {
      expect(write('before', 1)).toBe('ok')
      site.haltServer()
      const writing = mount.trySh('dd if=/dev/zero of=f bs=1M count=20')
      await expect.poll(() => freeBytes(disk)).toBeLessThan(MiB)
      await site.stopServer('SIGKILL')
      expect((await writing).stderr).toContain('No space left on device')
      await site.startServer()
    },
  )
})

function freeBytes(path: string): number {
  const { bfree, bsize } = statfsSync(path)
  return bfree * bsize
}
