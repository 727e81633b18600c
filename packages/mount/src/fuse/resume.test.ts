import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startClient } from '../../test/client.ts'
import { hasFuse, mountTemporary, removeMount } from '../../test/memory-mount.ts'
import type { DaemonReport, DaemonSettings } from '../../test/serve-memory.ts'
import type { InitInfo } from './init.ts'

const program = join(import.meta.dirname, '../../test/serve-memory.ts')

function startDaemon(fd: number, settings: DaemonSettings): ChildProcess {
  return fork(program, [JSON.stringify(settings)], {
    execArgv: ['--conditions=source'],
    stdio: ['ignore', 'inherit', 'inherit', fd, 'ipc'],
  })
}

async function nextReport(daemon: ChildProcess): Promise<DaemonReport> {
  const [report] = (await once(daemon, 'message')) as [DaemonReport]
  return report
}

async function kill(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return
  const ended = once(daemon, 'exit')
  daemon.kill('SIGKILL')
  await ended
}

describe.skipIf(!hasFuse)('a daemon that was killed (needs root and /dev/fuse)', () => {
  it('the next one on the same descriptor answers what the first had read', async () => {
    const { dir, fd } = await mountTemporary()
    const first = startDaemon(fd, { hold: 'file' })
    let second: ChildProcess | undefined
    const client = startClient(dir, `return fs.readFileSync(dir + '/file', 'utf8')`)
    client.result.catch(() => undefined)
    try {
      const { agreed } = (await nextReport(first)) as { agreed: InitInfo }
      expect(await nextReport(first)).toEqual({ held: 'file' })
      await kill(first)
      second = startDaemon(fd, { resumed: agreed })
      expect(await client.result).toBe('from a daemon')
    } finally {
      client.child.kill('SIGKILL')
      await kill(first)
      if (second !== undefined) await kill(second)
      await removeMount(dir, fd)
    }
  })
})
