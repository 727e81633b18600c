import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { MountConfig, SupervisorReport } from '@cairn/mount'
import type { Cli } from '../cli.ts'
import { cliError } from '../errors.ts'
import { processCommand, type ProcessRole } from './processes.ts'

/** After so long, whoever waits is told what for. */
const patienceMs = 5000

/** Starts a mount's processes; they outlive this one, its terminal and its working directory. Ctrl-C ends them again. */
export async function startSupervisor(
  cli: Cli,
  config: MountConfig,
  role: ProcessRole = 'supervisor',
): Promise<void> {
  const { file, args } = processCommand(role)
  const log = openSync(join(config.directory, 'daemon.log'), 'a', 0o600)
  const child = spawn(file, args, { detached: true, cwd: '/', stdio: ['pipe', 'pipe', log] })
  closeSync(log)
  const ended = once(child, 'exit')
  child.stdin!.end(JSON.stringify(config))
  const stop = (): void => void child.kill('SIGTERM')
  cli.signal.addEventListener('abort', stop, { once: true })
  const tell = setTimeout(() => void sayWaiting(cli, config), patienceMs)
  try {
    const report = await firstReport(child.stdout!)
    if ('error' in report) {
      await ended
      throw cannotMount(config, report.error)
    }
  } finally {
    clearTimeout(tell)
    cli.signal.removeEventListener('abort', stop)
  }
  child.stdout!.destroy()
  child.unref()
}

async function sayWaiting(cli: Cli, { server, directory }: MountConfig): Promise<void> {
  await cli.err.line(
    `still waiting for a session with ${server}; Ctrl-C gives up; see ${directory}/daemon.log`,
  )
  await cli.err.flush()
}

function firstReport(stdout: NodeJS.ReadableStream): Promise<SupervisorReport> {
  return new Promise((resolve) => {
    const lines = createInterface(stdout)
    lines.once('line', (line) => resolve(JSON.parse(line) as SupervisorReport))
    lines.once('close', () => resolve({ error: 'its supervisor ended without a word' }))
  })
}

/** What the processes said has the place in front already, and perhaps what to do at its end. */
function cannotMount({ mountPoint, directory }: MountConfig, said: string): Error {
  const reason = said.replace(/^cannot mount [^:]*: /, '')
  const [, why = reason, remedy] = /^([^]*?)\. ([A-Z][^]*)$/.exec(reason) ?? []
  const hint = remedy ?? `See: cairn doctor; and ${directory}/daemon.log.`
  return cliError('mount_failed', `mount on ${mountPoint}`, why.replace(/\.$/, ''), hint)
}
