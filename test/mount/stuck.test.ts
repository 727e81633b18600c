import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { globSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site } from './fixture.ts'

const program = fileURLToPath(new URL('../../packages/mount/test/silent-mount.ts', import.meta.url))
const home = 'stuck'
const noRoot = noMount ?? (process.getuid?.() === 0 ? undefined : 'needs root')

/** Whether a thread of it waits for something that no signal ends. */
function isWaitingInKernel(pid: number): boolean {
  return globSync(`/proc/${pid}/task/*/stat`).some((path) =>
    /\) D /.test(readFileSync(path, 'latin1')),
  )
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/stat`, 'latin1').match(/\) . (\d+)/)![1] === `${parent}`
      } catch {
        return false
      }
    })
}

describe.skipIf(noRoot)(
  'a mount whose processes were all killed while a program waits for an answer, and a thread of the daemon for the program',
  () => {
    let site: Site
    let place: string
    let mountPoint: string
    let supervisor: ChildProcess
    let reading: Promise<unknown>

    beforeEach(async () => {
      site = await Site.open()
      place = join(site.directory, home)
      mountPoint = join(place, 'mount')
      mkdirSync(place)
      const digest = createHash('sha256').update(mountPoint).digest('hex').slice(0, 16)
      const state = join(place, '.cache/cairn/mounts', digest)
      supervisor = spawn(process.execPath, ['--conditions=source', program, place, state], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const [said] = (await once(supervisor.stdout!, 'data')) as [Buffer]
      const daemon = Number(said)
      reading = promisify(execFile)('cat', [join(mountPoint, 'page')]).catch(
        (error: { stderr: string }) => error.stderr,
      )
      await expect.poll(() => isWaitingInKernel(daemon)).toBe(true)
      // Supervisor, daemon, and the guard that would end the connection.
      const all = [supervisor.pid!, ...childrenOf(supervisor.pid!)]
      for (const pid of all) process.kill(pid, 'SIGSTOP')
      for (const pid of all) process.kill(pid, 'SIGKILL')
      await once(supervisor, 'exit')
    })
    afterEach(async () => {
      for (const how of ['-f', '-l'])
        await promisify(execFile)('umount', ['-c', how, mountPoint]).catch(() => undefined)
      await site.close()
    })

    it.each(['umount', 'umount --force'])('%s clears it', async (words) => {
      await site.cairn([...words.split(' '), mountPoint], home)
      expect(await reading).toMatch(/not connected|connection abort|Input\/output/)
      expect(readdirSync(mountPoint)).toEqual([])
    })

    it('a mount that fails ends its connection and leaves it in its place: nothing is written below', async () => {
      const profile = join(place, 'no-profile')
      const ran = await site.tryCairn(['mount', '--profile', profile, ':/', mountPoint], home)
      expect(ran.stderr).toContain(profile)
      expect(await reading).toMatch(/not connected|connection abort|Input\/output/)
      expect(() => readdirSync(mountPoint)).toThrow('ENOTCONN')
    })

    it('mount clears it and mounts in its place', async () => {
      await site.cairn(['mount', ':/', mountPoint], home)
      expect(await reading).toMatch(/not connected|connection abort|Input\/output/)
      expect(readdirSync(mountPoint)).toEqual([])
      await site.cairn(['umount', mountPoint], home)
    })
  },
)
