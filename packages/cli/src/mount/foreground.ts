import { askControl, findLeftBehind, type MountConfig, Supervisor } from '@cairn/mount/beside'
import type { Cli } from '../cli.ts'
import { cliError } from '../errors.ts'
import { countOperations, mountAgain } from './describe.ts'
import { type ProcessRole, processCommand } from './processes.ts'
import { findUsers } from './users.ts'
import { WaitingLine } from './waiting-line.ts'

/** Supervises a mount in this process until Ctrl-C, and until it is unmounted then. */
export async function runForeground(
  cli: Cli,
  config: MountConfig,
  role: ProcessRole,
  source: string,
): Promise<void> {
  let said = ''
  const say = async (text: string): Promise<void> => {
    if (text === said) return
    said = text
    await cli.err.line(text)
  }
  const supervisor = new Supervisor(config, processCommand(role), {
    onBusy: (why) => void say(describeBusy(config, why)),
  })
  cli.signal.addEventListener('abort', () => {
    supervisor.stop()
    void tellWaiting(cli, config)
  })
  cli.onHurry(async () => {
    await supervisor.cutOff()
    await tellLeft(config, say)
  })
  await supervisor.start()
  await supervisor.ready
  await say(`mounted ${source} on ${config.mountPoint}; Ctrl-C unmounts`)
  await supervisor.ended
  if (supervisor.givenUp !== undefined) throw givenUp(config, supervisor.givenUp)
}

function givenUp(config: MountConfig, why: string): Error {
  return cliError(
    'mount_unhealthy',
    `keep the mount at ${config.mountPoint} running`,
    why,
    `Programs in it get errors. Go on where it was with: ${mountAgain(config)}.`,
  )
}

function describeBusy({ mountPoint }: MountConfig, why: string): string {
  const users = findUsers(mountPoint)
  const reason = users.length > 0 ? `it is used by ${users.join(', ')}` : why
  return `waiting to unmount ${mountPoint}: ${reason}. Ctrl-C again unmounts it all the same`
}

/** For as long as something is on its way to the server. */
async function tellWaiting(cli: Cli, { directory }: MountConfig): Promise<void> {
  const line = new WaitingLine(cli)
  // A daemon that does not answer has nothing to tell.
  await askControl(directory, 'drain', (waiting) => void line.show(waiting)).catch(() => undefined)
  await line.clear()
}

async function tellLeft(config: MountConfig, say: (text: string) => Promise<void>): Promise<void> {
  const { operations } = findLeftBehind(config.cacheDirectory)
  if (operations === 0) return
  const what = countOperations(operations)
  await say(
    `unmounted; ${what} may not be at the server: kept in ${config.cacheDirectory}. Next: ${mountAgain(config)}`,
  )
}
