import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'

const home = 'sandbox-1'

/** Kills each daemon as soon as it is known, until the supervisor starts no more of them. */
async function killUntilGivenUp(mount: SiteMount): Promise<void> {
  const { supervisor } = mount.processes()
  const killed = new Set<number>()
  const isOver = (): boolean => {
    if (!isAlive(supervisor)) return true
    const { daemon } = mount.processes()
    if (!killed.has(daemon) && isAlive(daemon)) process.kill(daemon, 'SIGKILL')
    killed.add(daemon)
    return false
  }
  await expect.poll(isOver, { timeout: 60_000, interval: 20 }).toBe(true)
  expect(killed.size).toBe(11)
}

function isAlive(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

describe.skipIf(noMount)('a mount whose daemon dies eleven times in ten minutes', () => {
  let site: Site
  let mount: SiteMount

  beforeEach(async () => {
    site = await Site.open()
    mount = await site.mount('/')
  })
  afterEach(() => site.close())

  it('stays mounted and fails every call; what was acknowledged is handed in by the next mount', async () => {
    // Prints each name once the file is closed. It ends with the first error.
    const script = 'i=0; while :; do i=$((i+1)); echo $i > "$1/$i" || exit; echo $i; done'
    const writer = spawn('/bin/sh', ['-c', script, 'sh', mount.directory], { cwd: '/' })
    const [said, failed]: [Buffer[], Buffer[]] = [[], []]
    writer.stdout.on('data', (data: Buffer) => said.push(data))
    writer.stderr.on('data', (data: Buffer) => failed.push(data))
    const ended = once(writer, 'close')
    await once(writer.stdout, 'data')
    await killUntilGivenUp(mount)
    await ended
    expect(Buffer.concat(failed).toString()).toMatch(/not connected|connection abort|I\/O error/)
    expect(() => readdirSync(mount.directory)).toThrow(/ENOTCONN|EIO/)

    const { stdout: listed } = await site.cairn(['mount', 'ls'], home)
    expect(listed).toContain('given up')
    const status = await site.tryCairn(['mount', 'status', mount.directory], home)
    expect(status.code).toBe(1)
    expect(status.stderr).toMatch(/its daemon died 11 times in ten minutes/)

    await site.cairn(['mount', ':/', mount.directory], home)
    const names = Buffer.concat(said).toString().trim().split('\n')
    const missing = names.filter((name) => !existsSync(mount.path(name)))
    expect(missing).toEqual([])
    await mount.unmount()
    // The disk below the mount point.
    expect(readdirSync(mount.directory)).toEqual([])
  }, 120_000)
})
