import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import {
  loadFuseIo,
  type MountConfig,
  startDaemon,
  type SupervisorReport,
} from '@cairn/mount/beside'
import type { Cli } from '../cli.ts'
import { cliError } from '../errors.ts'
import { daemonOf, processCommand, type SupervisorRole } from './processes.ts'

/** After so long, whoever waits is told what for. */
const patienceMs = 5000

/**
 * The processes of a mount; they outlive this one, its terminal and its working directory. Started before it is known
 * what to mount: they load while this process asks the server.
 */
export class StartingMount {
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>

  /** Both at once, and not one by the other: each takes as long to load as this process does. */
  static async start(role: SupervisorRole = 'supervisor'): Promise<StartingMount> {
    const io = await loadFuseIo().catch((error: Error) => {
      throw mountFailed('start a mount', error.message, 'See: cairn doctor.')
    })
    const daemon = startDaemon(daemonOf(role), io)
    const { file, args } = processCommand(role)
    const child = spawn(file, [...args, String(daemon.pid)], {
      detached: true,
      cwd: '/',
      stdio: ['pipe', 'pipe', 'ignore', ...daemon.sockets],
    })
    for (const socket of daemon.sockets) closeSync(socket)
    return new StartingMount(child)
  }

  private constructor(child: ChildProcess) {
    this.#child = child
    this.#ended = once(this.#child, 'exit').catch(() => undefined)
    // One that ended already says so where its report is waited for.
    this.#child.stdin!.on('error', () => undefined)
  }

  /** There is nothing to mount after all. */
  giveUp(): void {
    this.#child.stdin!.end()
    this.#child.unref()
  }

  /** Resolves when the mount is usable. Ctrl-C ends it again. */
  async begin(cli: Cli, config: MountConfig): Promise<void> {
    const child = this.#child
    child.stdin!.end(JSON.stringify(config))
    const stop = (): void => void child.kill('SIGTERM')
    cli.signal.addEventListener('abort', stop, { once: true })
    const tell = setTimeout(() => void sayWaiting(cli, config), patienceMs)
    try {
      const report = await firstReport(child.stdout!)
      if ('error' in report) {
        await this.#ended
        throw cannotMount(config, report.error)
      }
    } finally {
      clearTimeout(tell)
      cli.signal.removeEventListener('abort', stop)
    }
    child.stdout!.destroy()
    child.unref()
  }
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

/** What the processes said has the place in front already. */
function cannotMount({ mountPoint, directory }: MountConfig, said: string): Error {
  const reason = said.replace(/^cannot mount [^:]*: /, '')
  return mountFailed(
    `mount on ${mountPoint}`,
    reason,
    `See: cairn doctor; and ${directory}/daemon.log.`,
  )
}

/** A reason may have at its end what to do; else there is the hint. */
function mountFailed(what: string, reason: string, hint: string): Error {
  const [, why = reason, remedy = hint] = /^([^]*?)\. ([A-Z][^]*)$/.exec(reason) ?? []
  return cliError('mount_failed', what, why.replace(/\.$/, ''), remedy)
}
