import { setTimeout as sleep } from 'node:timers/promises'
import {
  abortConnection,
  findOurMount,
  isRunning,
  type MountState,
  type ProcessMark,
  readState,
  removeState,
  unmount,
} from '@cairn/mount/beside'
import type { Cli } from '../cli.ts'
import { cliError } from '../errors.ts'
import { isDead } from './is-dead.ts'
import { stateDirectories, stateDirectory } from './places.ts'

export type Found =
  | { readonly kind: 'none' }
  | { readonly kind: 'running'; readonly state: MountState }
  /** Its processes are gone. What it looks like to programs: nothing, or an error for everything. */
  | { readonly kind: 'dead'; readonly state: MountState | undefined }
  /** Another user's, or made with another home. */
  | { readonly kind: 'foreign' }

const pollMs = 20
const endMs = 5000

/** What is mounted at a place. */
export async function findMount(cli: Cli, mountPoint: string): Promise<Found> {
  const state = readState(stateDirectory(cli, mountPoint))
  if (state) return { kind: isAlive(state) ? 'running' : 'dead', state }
  if (!findOurMount(mountPoint)) return { kind: 'none' }
  return (await isDead(mountPoint)) ? { kind: 'dead', state: undefined } : { kind: 'foreign' }
}

function isAlive({ supervisor, givenUp }: MountState): boolean {
  return givenUp === undefined && isRunning(supervisor)
}

export interface ListedMount extends MountState {
  readonly isRunning: boolean
}

/** Every mount of this user. */
export function listMounts(cli: Cli): ListedMount[] {
  return stateDirectories(cli).flatMap((directory) => {
    const state = readState(directory)
    return state ? [{ ...state, isRunning: isAlive(state) }] : []
  })
}

/** Takes a dead mount away. What it had not handed in stays in its spool. */
export async function clearDead(mountPoint: string, state: MountState | undefined): Promise<void> {
  if (state?.daemon) await untilEnded(state.daemon, mountPoint)
  // Its state says that it is dead. Asking the mount itself could take for ever: see `Guard`.
  if (state && findOurMount(mountPoint)) await unmount(mountPoint, { lazy: true })
  // Others may have been mounted over one another.
  while (findOurMount(mountPoint) && (await isDead(mountPoint)))
    await unmount(mountPoint, { lazy: true })
  if (state) removeState(state.directory)
}

/**
 * Ends a dead mount's connection and leaves it in its place, where it fails every call until the next mount replaces it.
 * False where this user may not do that: then the mount is taken away.
 */
export async function cutOffDead(
  mountPoint: string,
  state: MountState | undefined,
): Promise<boolean> {
  if (state?.daemon) await untilEnded(state.daemon, mountPoint)
  const connection = findOurMount(mountPoint)?.connection
  const isCutOff = connection !== undefined && (await abortConnection(connection))
  if (!isCutOff) await clearDead(mountPoint, state)
  else if (state) removeState(state.directory)
  return isCutOff
}

/** Two must not have one spool. */
export async function untilEnded(mark: ProcessMark, mountPoint: string): Promise<void> {
  const deadline = performance.now() + endMs
  while (isRunning(mark)) {
    if (performance.now() > deadline)
      throw cliError(
        'umount_failed',
        `take away the mount at ${mountPoint}`,
        `its process ${mark.pid} does not end`,
        `End it with: kill -9 ${mark.pid}; then try again.`,
      )
    await sleep(pollMs)
  }
}
