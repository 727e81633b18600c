import { setTimeout as sleep } from 'node:timers/promises'
import {
  askControl,
  isRunning,
  type MountState,
  type MountStatus,
  type ProcessMark,
} from '@cairn/mount/beside'
import { type CairnError, isCairnError } from '@cairn/protocol'
import type { Cli } from '../cli.ts'
import { isSystemError } from '../describe-error.ts'
import { cliError } from '../errors.ts'
import { mountAgain, whereToLook } from './describe.ts'
import { findMount, type Found } from './find-mount.ts'
import { mountPointOf } from './places.ts'
import { Elsewhere } from './elsewhere.ts'
import { findUsers } from './users.ts'
import { describeWaiting, WaitingLine } from './waiting-line.ts'
import { commandLine, shellWord } from '../output/shell-words.ts'

/** What a daemon says of itself. */
export interface DaemonStatus extends MountStatus {
  readonly pid: number
  readonly supervisorPid: number
}

const retryMs = 100
/** As long as a daemon that crashed may take to be replaced. */
const replaceMs = 5000

/** The mount at a place, dead or alive. Throws where none is. */
export async function requireMount(
  cli: Cli,
  path: string,
): Promise<Exclude<Found, { kind: 'none' | 'foreign' }> & { readonly mountPoint: string }> {
  const mountPoint = mountPointOf(path)
  const found = await findMount(cli, mountPoint)
  if (found.kind === 'running' || found.kind === 'dead') return { ...found, mountPoint }
  const isForeign = found.kind === 'foreign'
  throw cliError(
    'not_mounted',
    `reach a mount at ${mountPoint}`,
    isForeign ? 'it was made by another user, or with another HOME' : 'nothing is mounted there',
    isForeign
      ? 'Ask as that user.'
      : commandLine`Mount with: cairn mount :/ ${path}; see all with: cairn mount ls.`,
  )
}

/** The same, alive. */
export async function requireRunning(cli: Cli, path: string): Promise<MountState> {
  const found = await requireMount(cli, path)
  if (found.kind === 'running') return found.state
  throw deadMount(found.mountPoint, found.state)
}

function deadMount(mountPoint: string, state: MountState | undefined): Error {
  const again = state === undefined ? commandLine`cairn mount :/ ${mountPoint}` : mountAgain(state)
  const hint = `Go on where it was with: ${again}; or take it away with: cairn umount ${shellWord(mountPoint)}.`
  return cliError(
    'mount_unhealthy',
    `reach the mount at ${mountPoint}`,
    state?.givenUp ?? 'its processes were killed',
    hint,
  )
}

/** Its daemon has just been started. */
class StillOpening extends Error {
  constructor(waitingFor: string | undefined) {
    super(`its daemon was started anew and waits for ${waitingFor}`)
  }
}

/** How a mount is. A daemon that is just being replaced gets the time for it. */
export async function askStatus(
  cli: Cli,
  { directory, supervisor, mountPoint }: MountState,
): Promise<DaemonStatus> {
  const deadline = performance.now() + replaceMs
  for (;;)
    try {
      const limit = AbortSignal.any([cli.signal, AbortSignal.timeout(replaceMs)])
      const status = (await askControl(directory, 'status', undefined, limit)) as DaemonStatus
      if (!status.isOpening) return status
      throw new StillOpening(status.waitingFor)
    } catch (error) {
      cli.signal.throwIfAborted()
      if (performance.now() > deadline || !isRunning(supervisor))
        throw cliError(
          'mount_unhealthy',
          `reach the mount at ${mountPoint}`,
          error instanceof StillOpening ? error.message : 'its daemon does not answer',
          whereToLook(directory),
          error,
        )
      await sleep(retryMs)
    }
}

interface HandInOptions {
  readonly timeoutMs: number | undefined
  /** For `unmount`: what waits in local directories is not sent. */
  readonly keepsLocal?: boolean
}

/** Waits until everything is at the server; with `unmount`, the mount is gone then. */
export async function handIn(
  cli: Cli,
  state: MountState,
  command: 'drain' | 'unmount',
  { timeoutMs, keepsLocal }: HandInOptions,
): Promise<MountStatus> {
  const line = new WaitingLine(cli)
  const elsewhere = new Elsewhere(state)
  const late = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)
  const signal = late ? AbortSignal.any([cli.signal, late]) : cli.signal
  try {
    await askStatus(cli, state)
    const answer = await askControl(
      state.directory,
      { command, keepsLocal },
      (waiting) => {
        const why = command === 'unmount' ? elsewhere.describe(waiting) : undefined
        void (why === undefined ? line.show(waiting) : line.say(`waiting: ${why}`))
      },
      signal,
    )
    if (command === 'unmount') await untilForgotten(state.supervisor)
    return answer as MountStatus
  } catch (error) {
    cli.signal.throwIfAborted()
    if (late?.aborted) throw notDrained(state, command, elsewhere.last ?? onTheWay(line))
    if (isCairnError(error, 'umount_failed')) throw stillUsed(state, error, keepsLocal)
    if (isSystemError(error)) throw deadMount(state.mountPoint, state)
    throw error
  } finally {
    await line.clear()
  }
}

/** Its supervisor tidies up after it. */
async function untilForgotten(supervisor: ProcessMark): Promise<void> {
  const deadline = performance.now() + replaceMs
  while (isRunning(supervisor) && performance.now() < deadline) await sleep(10)
}

function onTheWay({ last }: WaitingLine): string {
  return `still on the way: ${last ? describeWaiting(last) : 'some of it'}`
}

function notDrained({ mountPoint }: MountState, command: string, reason: string): Error {
  const hint =
    command === 'drain'
      ? commandLine`It goes on; see: cairn mount status ${mountPoint}.`
      : commandLine`It is still mounted and goes on; unmount without waiting with: cairn umount --force ${mountPoint}.`
  return cliError(
    'not_drained',
    `bring everything of ${mountPoint} to the server in time`,
    reason,
    hint,
  )
}

function stillUsed({ mountPoint }: MountState, cause: CairnError, keepsLocal = false): Error {
  const sent = keepsLocal ? 'All but its local directories' : 'Everything'
  const users = findUsers(mountPoint)
  const isUsed = users.length > 0
  return cliError(
    'umount_failed',
    `unmount ${mountPoint}`,
    isUsed ? `it is used by ${users.join(', ')}` : cause.reason,
    `${isUsed ? 'End them' : 'Try again'}, or unmount all the same with: cairn umount --force ${shellWord(mountPoint)}. ${sent} is at the server.`,
    cause,
  )
}
