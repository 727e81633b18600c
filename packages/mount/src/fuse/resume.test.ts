import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Client, startClient } from '../../test/client.ts'
import { hasFuse, kernelAsksAgain, mountTemporary, removeMount } from '../../test/memory-mount.ts'
import { until } from '../../test/waiting.ts'
import type { DaemonReport, DaemonSettings } from '../../test/serve-memory.ts'
import type { InitInfo } from './init.ts'
import { loadFuseIo } from './native.ts'

const program = join(import.meta.dirname, '../../test/serve-memory.ts')

/** A mount whose daemons come and go. */
interface Place {
  readonly dir: string
  start(settings: DaemonSettings): ChildProcess
  ask(body: string): Client
}

/** Everything of it is ended with the test. */
async function makePlace(): Promise<Place> {
  const { dir, fd } = await mountTemporary()
  const memory = (await loadFuseIo()).openMemory()
  const [daemons, clients]: [ChildProcess[], Client[]] = [[], []]
  onTestFinished(async () => {
    for (const { child } of clients) child.kill('SIGKILL')
    for (const daemon of daemons) await kill(daemon)
    closeSync(memory)
    await removeMount(dir, fd)
  })
  return {
    dir,
    start: (settings) => {
      const daemon = fork(program, [JSON.stringify(settings)], {
        execArgv: ['--conditions=source'],
        stdio: ['ignore', 'inherit', 'inherit', fd, 'ipc', memory],
      })
      daemons.push(daemon)
      return daemon
    },
    ask: (body) => {
      const client = startClient(dir, body)
      client.result.catch(() => undefined)
      clients.push(client)
      return client
    },
  }
}

async function nextReport(daemon: ChildProcess): Promise<DaemonReport> {
  const [report] = (await once(daemon, 'message')) as [DaemonReport]
  return report
}

async function agreed(daemon: ChildProcess): Promise<InitInfo> {
  return ((await nextReport(daemon)) as { agreed: InitInfo }).agreed
}

async function kill(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return
  const ended = once(daemon, 'exit')
  daemon.kill('SIGKILL')
  await ended
}

/** As a kernel before 6.9 would have agreed. */
function withoutResend(info: InitInfo): InitInfo {
  return { ...info, flags2: 0 }
}

describe.skipIf(!hasFuse)('a daemon that was killed (needs root and /dev/fuse)', () => {
  const sinceLinux69 = it.skipIf(!kernelAsksAgain)
  sinceLinux69(
    'since Linux 6.9 the next one on the same descriptor answers what the first had read',
    async () => {
      const place = await makePlace()
      const first = place.start({ hold: 'file' })
      const client = place.ask(`return fs.readFileSync(dir + '/file', 'utf8')`)
      const info = await agreed(first)
      expect(await nextReport(first)).toEqual({ held: 'file' })
      await kill(first)
      place.start({ resumed: info })
      expect(await client.result).toBe('from a daemon')
    },
  )

  it('programs that wait get EIO from a kernel that does not ask again, and the mount goes on', async () => {
    const place = await makePlace()
    const first = place.start({ hold: 'file' })
    const held: DaemonReport[] = []
    const info = await agreed(first)
    first.on('message', (report: DaemonReport) => held.push(report))
    // The kernel asks for one name once at a time.
    const clients = ['1', '2', '3'].map((end) => place.ask(`fs.statSync(dir + '/file${end}')`))
    await until(() => held.length === clients.length)
    await kill(first)
    place.start({ resumed: withoutResend(info) })
    for (const { result } of clients) await expect(result).rejects.toThrow('EIO')
    const later = place.ask(`return fs.readFileSync(dir + '/file', 'utf8')`)
    expect(await later.result).toBe('from a daemon')
  })

  it('a kernel that does not ask again: killed at the request at hand, which then is EIO', async () => {
    const place = await makePlace()
    const first = place.start({ dieAt: 'file' })
    const client = place.ask(`fs.statSync(dir + '/file')`)
    const info = await agreed(first)
    await once(first, 'exit')
    place.start({ resumed: withoutResend(info) })
    await expect(client.result).rejects.toThrow('EIO')
  })
})
