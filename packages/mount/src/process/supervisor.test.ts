import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { hasFuse } from '../../test/memory-mount.ts'
import { loadFuseIo } from '../fuse/native.ts'

const [force, detach] = [1, 2]
const program = fileURLToPath(new URL('../../test/silent-mount.ts', import.meta.url))

it.skipIf(!hasFuse)(
  'killed with its daemon while that owes an answer: the mount ends, and nobody waits in it for ever',
  async () => {
    const place = mkdtempSync(join(tmpdir(), 'cairn-supervisor-'))
    const mountPoint = join(place, 'mount')
    onTestFinished(async () => {
      // Forced: who still waits in it is let go.
      await (await loadFuseIo()).umount(mountPoint, force | detach)
      rmSync(place, { recursive: true })
    })
    const supervisor = spawn(process.execPath, ['--conditions=source', program, place], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [daemonPid] = (await once(supervisor.stdout, 'data')) as [Buffer]
    await expect.poll(() => existsSync(join(place, 'held'))).toBe(true)
    supervisor.kill('SIGKILL')
    process.kill(Number(daemonPid), 'SIGKILL')
    const looking = promisify(execFile)('ls', [mountPoint], { timeout: 10_000 })
    await expect(looking).rejects.toThrow(/not connected|connection abort/)
  },
)
