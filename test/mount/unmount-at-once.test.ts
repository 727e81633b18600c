import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readlinkSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../sessions/fixture.ts'
import { noMount, Site, type SiteMount } from './fixture.ts'
import { everyRun } from './random/seeds.ts'

const noRoot = noMount ?? (process.getuid?.() === 0 ? undefined : 'needs root')

describe.skipIf(noRoot)('umount(8) at once', () => {
  let site: Site

  beforeEach(async () => {
    site = await Site.open()
  })
  afterEach(() => site.close())

  /** One that answers writes without the server. */
  async function mountWithLease(): Promise<SiteMount> {
    const mount = await site.mount('/')
    await mount.sh('echo first > first')
    await mount.drain()
    return mount
  }

  it.each(everyRun)('right after mounting: it is not busy (run %i)', async () => {
    for (let round = 0; round < 2; round++) {
      const { directory } = await site.mount('/')
      const { stderr } = await promisify(execFile)('umount', [directory])
      expect(stderr).toBe('')
    }
  })

  it.each(everyRun)(
    'umount(8) with data that is not at the server, then cairn mount: it waits for the data (run %i)',
    async () => {
      const home = 'sandbox-1'
      const mount = await mountWithLease()
      await site.stopServer('SIGKILL')
      await mount.sh('for i in $(seq 50); do echo $i > f$i; done')
      await promisify(execFile)('umount', [mount.directory])
      expect((await mount.status()).pendingOps).toBeGreaterThan(0)
      await site.startServer()
      await site.cairn(['mount', ':/', mount.directory], home)
      expect(await mount.sh('cat f50; ls | wc -l')).toBe('50\n51\n')
    },
  )

  it('umount(8) with a copy in another mount namespace, then cairn umount: it says which program has it', async () => {
    const mount = await mountWithLease()
    const other = spawn('unshare', ['-m', '--propagation', 'private', 'sleep', 'infinity'])
    const otherEnded = once(other, 'exit')
    try {
      const before = readlinkSync('/proc/self/ns/mnt')
      await until(() => readlinkSync(`/proc/${other.pid}/ns/mnt`) !== before)
      const unmount = site.startCairn(['umount', mount.directory], mount.home)
      const ended = once(unmount, 'exit')
      const [said] = (await once(unmount.stderr!, 'data')) as [Buffer]
      expect(said.toString()).toContain(
        `other mount namespaces still have it: sleep (pid ${other.pid})`,
      )
      other.kill()
      expect(await ended).toEqual([0, null])
    } finally {
      other.kill()
      await otherEnded
    }
  })

  it('umount(8) with data that is not at the server, then cairn umount: it brings the data there', async () => {
    const mount = await mountWithLease()
    await site.stopServer('SIGKILL')
    await mount.sh('echo kept > f')
    await promisify(execFile)('umount', [mount.directory])
    const unmount = site.startCairn(['umount', mount.directory], mount.home)
    const ended = once(unmount, 'exit')
    // Once it says what it waits for: a mount that has sent everything ends by itself.
    await once(unmount.stderr!, 'data')
    await site.startServer()
    expect(await ended).toEqual([0, null])
    expect((await site.cairn(['fs', 'cat', ':/f'])).stdout).toBe('kept\n')
  })
})
