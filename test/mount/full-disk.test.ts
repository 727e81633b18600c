import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  openSync,
  closeSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
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
  afterEach(() => site.close())

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
    'a writer is told ENOSPC while the server is away, what was acknowledged is not lost, and afterwards it goes on (run %i)',
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

describe.skipIf(noMount ?? !isRoot)('the disk of everything that a mount keeps is full', () => {
  let site: Site
  let mount: SiteMount
  let disk: string

  beforeEach(async () => {
    site = await Site.open()
    disk = join(site.directory, 'sandbox-1', '.cache')
    mkdirSync(disk, { recursive: true })
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk])
    mount = await site.mount('/')
  })
  afterEach(() => site.close())

  it('a daemon that is killed then comes back when there is room, and its supervisor lives on', async () => {
    await mount.sh('echo before > f; mkdir d')
    await mount.drain()
    const { pid, supervisorPid } = await mount.status()
    fill(disk)
    process.kill(pid, 'SIGKILL')
    const second = await daemonBelow(supervisorPid, pid)
    process.kill(second, 'SIGKILL')
    const third = await daemonBelow(supervisorPid, second)
    const reading = mount.sh('cat f; echo after > d/g')
    rmSync(join(disk, 'filler'))
    expect(await reading).toBe('before\n')
    await mount.drain()
    expect((await site.cairn(['fs', 'cat', ':/d/g'])).stdout).toBe('after\n')
    await expect.poll(async () => (await mount.status()).pid).toBe(third)
    expect((await mount.status()).supervisorPid).toBe(supervisorPid)
  })
})

/** The daemon that a supervisor has started, once it is another one: its state is not written down. */
async function daemonBelow(supervisorPid: number, before: number): Promise<number> {
  let found: string | undefined
  const isDaemon = (pid: string): boolean => {
    try {
      const parent = /\) . (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))![1]
      const words = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0')
      return Number(parent) === supervisorPid && words.includes('__mount')
    } catch {
      return false
    }
  }
  await expect
    .poll(() => {
      found = readdirSync('/proc').find((name) => Number(name) !== before && isDaemon(name))
      return found
    })
    .toBeDefined()
  return Number(found)
}

/** To the last byte. */
function fill(disk: string): void {
  const fd = openSync(join(disk, 'filler'), 'w')
  try {
    for (let size = MiB; size >= 1; size /= 2)
      try {
        for (;;) writeSync(fd, Buffer.alloc(size))
      } catch {
        // Perhaps there is room for a smaller piece.
      }
  } finally {
    closeSync(fd)
  }
}

function freeBytes(path: string): number {
  const { bfree, bsize } = statfsSync(path)
  return bfree * bsize
}
