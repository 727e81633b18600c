import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'

/** The name of what a process runs: `node`, or what waits in its place. */
function programOf(pid: number): string {
  return readFileSync(`/proc/${pid}/comm`, 'latin1').trim()
}

function kilobytesOf(pid: number): number {
  const usage = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1')
  return Number(/^Pss: +(\d+) kB$/m.exec(usage)![1])
}

describe.skipIf(noMount)('the supervisor of a mount (needs /dev/fuse)', () => {
  let site: Site
  let mount: SiteMount

  beforeEach(async () => {
    site = await Site.open()
    mount = await site.mount('/')
  })
  afterEach(() => site.close())

  it('takes less than 4 MB while nothing happens, also while programs work', async () => {
    const { supervisor } = mount.processes()
    await mount.sh('mkdir d && echo made > d/f && cat d/f')
    await mount.drain()
    expect(programOf(supervisor)).toMatch(/^standby/)
    expect(kilobytesOf(supervisor)).toBeLessThan(4096)
  })

  it('the supervisor of a mount is a Node process when the daemon has died, with the number it had, and the mount goes on', async () => {
    const { supervisor, daemon } = mount.processes()
    process.kill(daemon, 'SIGKILL')
    expect(await mount.sh('echo made > f && cat f')).toBe('made\n')
    expect(mount.processes().supervisor).toBe(supervisor)
    expect(programOf(supervisor)).not.toMatch(/^standby/)
  })

  it('told to stop, hands everything in and unmounts', async () => {
    const { supervisor } = mount.processes()
    await mount.sh('echo last > f')
    process.kill(supervisor, 'SIGTERM')
    await expect
      .poll(() => readFileSync('/proc/self/mounts', 'latin1'), { timeout: 20_000 })
      .not.toContain(mount.directory)
    const other = await site.mount('/')
    expect(readFileSync(other.path('f'), 'utf8')).toBe('last\n')
  })

  it('alone listens to SIGTERM: the daemon goes on with what it has not sent', async () => {
    const before = mount.processes()
    await mount.sh('echo last > f')
    process.kill(before.daemon, 'SIGTERM')
    expect(await mount.sh('cat f; echo more > g; cat g')).toBe('last\nmore\n')
    expect(mount.processes()).toEqual(before)
    expect(programOf(before.supervisor)).toMatch(/^standby/)
  })
})
