import { writeSync } from 'node:fs'
import { loadFuseIo } from '../fuse/native.ts'
import type { MountConfig } from './config.ts'
import { type DaemonCommand, DaemonProcess, type WaitingDaemon } from './daemon-process.ts'
import { Supervisor } from './supervisor.ts'

/** The first line it prints: usable, or why not. */
export type SupervisorReport = { readonly ready: true } | { readonly error: string }

/** Where a supervisor has the sockets of the daemon that was started beside it. */
const adoptedSockets: WaitingDaemon['sockets'] = [3, 4, 5]

/**
 * The life of a supervisor's process in the background. It and its first daemon are started before the command that
 * wants them has looked at everything: its config comes over the standard input, or nothing does. Gives its exit code.
 */
export async function supervisorMain(
  command: DaemonCommand,
  { adopted }: { readonly adopted: number },
): Promise<number> {
  const daemon = new DaemonProcess({ pid: adopted, sockets: adoptedSockets }, await loadFuseIo())
  const config = await readConfig()
  if (!config) {
    daemon.kill()
    return 0
  }
  const supervisor = new Supervisor(config, command, daemon)
  process.on('SIGTERM', () => supervisor.stop())
  process.on('SIGINT', () => supervisor.stop())
  process.on('SIGHUP', () => undefined)
  try {
    await supervisor.start()
    await supervisor.ready
    report({ ready: true })
    await supervisor.ended
    return 0
  } catch (error) {
    report({ error: error instanceof Error ? error.message : String(error) })
    return 1
  }
}

/** Undefined when there is nothing to mount after all. */
async function readConfig(): Promise<MountConfig | undefined> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  return text === '' ? undefined : (JSON.parse(text) as MountConfig)
}

/** At once: a stream would have to be loaded first. Whoever started it may have gone. */
function report(line: SupervisorReport): void {
  try {
    writeSync(1, `${JSON.stringify(line)}\n`)
  } catch {
    // The mount is there all the same.
  }
}
