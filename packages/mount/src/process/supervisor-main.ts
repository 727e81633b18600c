import type { DaemonCommand } from './daemon-process.ts'
import { handOver, inherit } from './hand-over.ts'
import type { MountConfig } from './config.ts'
import { findStandby } from './standby.ts'
import { Supervisor } from './supervisor.ts'

interface SupervisorCommands {
  readonly daemon: DaemonCommand
  /** The one of this very process. */
  readonly supervisor: DaemonCommand
}

/**
 * The life of a supervisor's process in the background, which begins when there is something to do. Once it has been
 * calm for long, it hands over again. Gives its exit code.
 */
export async function supervisorMain(
  commands: SupervisorCommands,
  { isStopping }: { readonly isStopping: boolean },
): Promise<number> {
  const { config, mount } = await inherit()
  const supervisor = new Supervisor(config, commands.daemon)
  process.on('SIGTERM', () => supervisor.stop())
  process.on('SIGINT', () => supervisor.stop())
  process.on('SIGHUP', () => undefined)
  supervisor.adopt(mount)
  if (isStopping) supervisor.stop()
  void handBack(supervisor, config, commands.supervisor)
  await supervisor.ended
  return 0
}

/** If there is no process that takes less memory, or it cannot be started, this one goes on. */
async function handBack(
  supervisor: Supervisor,
  config: MountConfig,
  command: DaemonCommand,
): Promise<void> {
  if ((await findStandby()) === undefined) return
  await supervisor.untilCalm()
  await handOver(supervisor, config, command).catch(() => undefined)
}
