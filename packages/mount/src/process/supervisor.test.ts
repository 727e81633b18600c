import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
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

function killBoth({ supervisor, daemonPid }: SilentMount): void {
  supervisor.kill('SIGKILL')
  process.kill(daemonPid, 'SIGKILL')
}

/** Whether a thread of it waits for something that no signal ends. */
function isWaitingInKernel(pid: number): boolean {
  return globSync(`/proc/${pid}/task/*/stat`).some((path) =>
    /\) D /.test(readFileSync(path, 'latin1')),
  )
}

/** One whose daemon owes answers. */
async function makeSilentMount(): Promise<SilentMount> {
  const place = mkdtempSync(join(tmpdir(), 'cairn-supervisor-'))
  const mountPoint = join(place, 'mount')
  const args = ['--conditions=source', program, place, join(place, 'state')]
  const supervisor = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(async () => {
    supervisor.kill('SIGKILL')
    // Forced: who still waits in it is let go.
    await (await loadFuseIo()).umount(mountPoint, force | detach)
    rmSync(place, { recursive: true })
  })
  const [daemonPid] = (await once(supervisor.stdout, 'data')) as [Buffer]
  return { place, mountPoint, supervisor, daemonPid: Number(daemonPid) }
}

describe.skipIf(!hasFuse)('a daemon that owes an answer (needs root and /dev/fuse)', () => {
  it('a daemon killed with its supervisor ends the mount, and no program waits for ever', async () => {
    const mount = await makeSilentMount()
    const owed = promisify(execFile)('stat', [join(mount.mountPoint, 'f')])
    const heard = expect(owed).rejects.toThrow(/not connected|connection abort/)
    await expect.poll(() => existsSync(join(mount.place, 'held f'))).toBe(true)
    killBoth(mount)
    await heard
  })

  it('killed with its supervisor while it notifies the kernel: no program waits for ever', async () => {
    const mount = await makeSilentMount()
    const owed = promisify(execFile)('cat', [join(mount.mountPoint, 'page')])
    const heard = expect(owed).rejects.toThrow(/not connected|connection abort|Input\/output/)
    await expect.poll(() => isWaitingInKernel(mount.daemonPid)).toBe(true)
    killBoth(mount)
    await heard
    const looking = promisify(execFile)('ls', [mount.mountPoint])
    await expect(looking).rejects.toThrow(/not connected|connection abort/)
    await expect.poll(() => existsSync(`/proc/${mount.daemonPid}/task`)).toBe(false)
  })

  it('killed alone, on a kernel that does not ask again: the next one says EIO for it', async () => {
    const { place, mountPoint, daemonPid } = await makeSilentMount()
    const owed = promisify(execFile)('stat', [join(mountPoint, 'f')], { timeout: 10_000 })
    const heard = expect(owed).rejects.toThrow('Input/output error')
    await expect.poll(() => existsSync(join(place, 'held f'))).toBe(true)
    process.kill(daemonPid, 'SIGKILL')
    await heard
    expect(await promisify(execFile)('ls', [mountPoint])).toEqual({ stdout: 'page\n', stderr: '' })
  })
})
