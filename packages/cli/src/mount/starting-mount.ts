import {
  DaemonProcess,
  findDaemonLog,
  handOver,
  loadFuseIo,
  type MountConfig,
  startDaemon,
  Supervisor,
} from '@cairn/mount/beside'
import { isCairnError } from '@cairn/protocol'
import type { Cli } from '../cli.ts'
import { cliError } from '../errors.ts'
import { whereToLook } from './describe.ts'
import { daemonOf, processCommand, type SupervisorRole } from './processes.ts'

/** After this time the waiting user learns what the command waits for. */
const patienceMs = 5000

/**
 * A mount whose daemon loads while this process asks the server what to mount. This process
 * supervises it until it is usable; its permanent supervisor loads after that, when no user waits
 * any more.
 */
export class StartingMount {
  readonly #role: SupervisorRole
  readonly #daemon: DaemonProcess

  static async start(role: SupervisorRole = 'supervisor'): Promise<StartingMount> {
    const io = await loadFuseIo().catch((error: Error) => {
      throw mountFailed('start a mount', error, 'See: cairn doctor.')
    })
    return new StartingMount(role, new DaemonProcess(startDaemon(daemonOf(role), io), io))
  }

  private constructor(role: SupervisorRole, daemon: DaemonProcess) {
    this.#role = role
    this.#daemon = daemon
  }

  /** There is nothing to mount after all. */
  giveUp(): void {
    this.#daemon.kill()
    this.#daemon.leave()
  }

  /** Resolves when the mount is usable; its processes outlive this one. Ctrl-C ends it again. */
  async begin(cli: Cli, config: MountConfig): Promise<void> {
    await this.#start(cli, config, (supervisor) =>
      handOver(supervisor, config, processCommand(this.#role)).catch(async (error) => {
        await supervisor.cutOff()
        throw error
      }),
    )
  }

  /** The same, but this process supervises it, and has to end it. `onBusy` hears why that waits. */
  async supervise(
    cli: Cli,
    config: MountConfig,
    onBusy: (why: string) => void,
  ): Promise<Supervisor> {
    return this.#start(cli, config, async (supervisor) => supervisor, onBusy)
  }

  async #start<Result>(
    cli: Cli,
    config: MountConfig,
    then: (supervisor: Supervisor) => Promise<Result>,
    onBusy: (why: string) => void = () => undefined,
  ): Promise<Result> {
    const line = new StartingLine(cli, config)
    const supervisor = new Supervisor(config, daemonOf(this.#role), {
      warm: this.#daemon,
      onWaiting: (what) => void line.waitsFor(what),
      onBusy,
    })
    const stop = (): void => supervisor.stop()
    cli.signal.addEventListener('abort', stop, { once: true })
    const tell = setTimeout(() => void line.begin(), patienceMs)
    try {
      await supervisor.start()
      await supervisor.ready
      return await then(supervisor)
    } catch (error) {
      throw mountFailed(`mount on ${config.mountPoint}`, error, whereToLook(config.directory))
    } finally {
      clearTimeout(tell)
      cli.signal.removeEventListener('abort', stop)
    }
  }
}

/** Says what a mount waits for, once that takes long, and each time it is something else. */
class StartingLine {
  readonly #cli: Cli
  readonly #config: MountConfig
  #what: string
  #said = ''
  #isTelling = false

  constructor(cli: Cli, config: MountConfig) {
    this.#cli = cli
    this.#config = config
    this.#what = `a session with ${config.server}`
  }

  async begin(): Promise<void> {
    this.#isTelling = true
    await this.#say()
  }

  async waitsFor(what: string): Promise<void> {
    this.#what = what
    await this.#say()
  }

  async #say(): Promise<void> {
    // Numbers in it change all the time.
    const kind = this.#what.replaceAll(/\d+/g, '')
    if (!this.#isTelling || kind === this.#said) return
    this.#said = kind
    const log = findDaemonLog(this.#config.directory)
    const see = log === undefined ? '' : `; see ${log}`
    await this.#cli.err.line(`still waiting for ${this.#what}; Ctrl-C gives up${see}`)
  }
}

/** The error of a process of the mount, about what the user asked for. */
function mountFailed(what: string, error: unknown, hint: string): Error {
  if (isCairnError(error)) return cliError('mount_failed', what, error.reason, error.hint, error)
  const reason = error instanceof Error ? error.message : String(error)
  return cliError('mount_failed', what, reason, hint, error)
}
