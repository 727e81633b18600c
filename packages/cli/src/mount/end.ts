import {
  findLeftBehind,
  findOurMount,
  isRunning,
  type MountState,
  removeState,
  unmount,
} from '@cairn/mount/beside'
import type { Cli } from '../cli.ts'
import { isCairnError } from '@cairn/protocol'
import { handIn, requireMount } from './control.ts'
import { countOperations, mountAgain } from './describe.ts'
import { clearDead, untilEnded } from './find-mount.ts'

interface EndOptions {
  readonly timeoutMs: number | undefined
  readonly isForced: boolean
  /** What waits in local directories is not sent: it stays in the spool, for the next mount here. */
  readonly keepsLocal?: boolean
}

/** What became of a mount that was ended. */
export interface Ended {
  readonly mountPoint: string
  /** It had been killed before. */
  readonly wasDead: boolean
  /** Acknowledged to programs, and not at the server. */
  readonly leftOperations: number
  /** Where that is, and the command that brings it to the server. */
  readonly spool?: string
  readonly next?: string
}

/** Unmounts, and says what became of everything that was written. */
export async function endMount(cli: Cli, path: string, options: EndOptions): Promise<void> {
  const ended = await unmountAt(cli, path, options)
  if (cli.isJson) await cli.out.json(ended)
  else await tellEnded(cli, ended)
}

export async function tellEnded(cli: Cli, ended: Ended): Promise<void> {
  const { mountPoint, wasDead, leftOperations, spool, next } = ended
  const how = wasDead ? `took away the dead mount at ${mountPoint}` : `unmounted ${mountPoint}`
  if (next === undefined) return cli.out.line(`${how}; everything is at the server`)
  await cli.out.line(
    `${how}; ${countOperations(leftOperations)} may not be at the server and ${leftOperations === 1 ? 'is' : 'are'} kept in ${spool}`,
  )
  await cli.out.line(`next: ${next}`)
}

/** The same, without saying so. */
export async function unmountAt(cli: Cli, path: string, options: EndOptions): Promise<Ended> {
  const found = await requireMount(cli, path)
  const { mountPoint, state } = found
  if (found.kind === 'dead') {
    await clearDead(mountPoint, state)
    return { mountPoint, wasDead: true, ...left(state) }
  }
  const isPatient = !options.isForced || options.timeoutMs !== undefined
  if (isPatient && (await hasHandedIn(cli, found.state, options)))
    return {
      mountPoint,
      wasDead: false,
      ...(options.keepsLocal ? left(state) : { leftOperations: 0 }),
    }
  await cutOff(found.state)
  return { mountPoint, wasDead: false, ...left(state) }
}

/** False when it may be forced now. */
async function hasHandedIn(cli: Cli, state: MountState, options: EndOptions): Promise<boolean> {
  try {
    await handIn(cli, state, 'unmount', options)
    return true
  } catch (error) {
    if (options.isForced && isCairnError(error)) return false
    throw error
  }
}

/** First out of sight, so that nothing more is written; then its processes, which would go on handing in. */
async function cutOff({ mountPoint, directory, supervisor, daemon }: MountState): Promise<void> {
  if (findOurMount(mountPoint)) await unmount(mountPoint, { lazy: true })
  for (const mark of [supervisor, daemon])
    if (mark !== undefined && isRunning(mark)) process.kill(mark.pid, 'SIGKILL')
  for (const mark of [supervisor, daemon])
    if (mark !== undefined) await untilEnded(mark, mountPoint)
  removeState(directory)
}

function left(state: MountState | undefined): Pick<Ended, 'leftOperations' | 'spool' | 'next'> {
  const operations = state === undefined ? 0 : findLeftBehind(state.cacheDirectory).operations
  if (state === undefined || operations === 0) return { leftOperations: 0 }
  return { leftOperations: operations, spool: state.cacheDirectory, next: mountAgain(state) }
}
