import type { DaemonCommand } from './daemon-process.ts'
import { inherit } from './hand-over.ts'
import { Supervisor } from './supervisor.ts'

/** The life of a supervisor's process in the background. Gives its exit code. */
export async function supervisorMain(command: DaemonCommand): Promise<number> {
  const { config, mount } = await inherit()
  const supervisor = new Supervisor(config, command)
  process.on('SIGTERM', () => supervisor.stop())
  process.on('SIGINT', () => supervisor.stop())
  process.on('SIGHUP', () => undefined)
  supervisor.adopt(mount)
  await supervisor.ended
  return 0
}
