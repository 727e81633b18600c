import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hasFuse } from '../../test/memory-mount.ts'
import { loadFuseIo } from '../fuse/native.ts'

const [force, detach] = [1, 2]
const program = fileURLToPath(new URL('../../test/silent-mount.ts', import.meta.url))

interface SilentMount {
  readonly place: string
  readonly mountPoint: string
  readonly supervisor: ChildProcess
  readonly daemonPid: number
}

/** One whose daemon owes an answer. */
async function makeSilentMount(): Promise<SilentMount> {
  const place = mkdtempSync(join(tmpdir(), 'cairn-supervisor-'))
  const mountPoint = join(place, 'mount')
  const supervisor = spawn(process.execPath, ['--conditions=source', program, place], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(async () => {
    supervisor.kill('SIGKILL')
    // Forced: who still waits in it is let go.
    await (await loadFuseIo()).umount(mountPoint, force | detach)
    rmSync(place, { recursive: true })
  })
  const [daemonPid] = (await once(supervisor.stdout, 'data')) as [Buffer]
  // Its supervisor has it looked at.
  await expect.poll(() => existsSync(join(place, 'held .cairn'))).toBe(true)
  return { place, mountPoint, supervisor, daemonPid: Number(daemonPid) }
}

describe.skipIf(!hasFuse)('a daemon that owes an answer (needs root and /dev/fuse)', () => {
  it('killed with its supervisor: the mount ends, and nobody waits in it for ever', async () => {
    const { mountPoint, supervisor, daemonPid } = await makeSilentMount()
    supervisor.kill('SIGKILL')
    process.kill(daemonPid, 'SIGKILL')
    const looking = promisify(execFile)('ls', [mountPoint], { timeout: 10_000 })
    await expect(looking).rejects.toThrow(/not connected|connection abort/)
  })

  it('killed alone, on a kernel that does not ask again: the next one says EIO for it', async () => {
    const { place, mountPoint, daemonPid } = await makeSilentMount()
    const owed = promisify(execFile)('stat', [join(mountPoint, 'f')], { timeout: 10_000 })
    const heard = expect(owed).rejects.toThrow('Input/output error')
    await expect.poll(() => existsSync(join(place, 'held f'))).toBe(true)
    process.kill(daemonPid, 'SIGKILL')
    await heard
    expect(await promisify(execFile)('ls', [mountPoint])).toEqual({ stdout: '', stderr: '' })
  })
})
