import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  findLeftBehind,
  isRunning,
  type MountConfig,
  type MountState,
  readState,
} from '@cairn/mount'

/** What a spool's content is for. */
type Files = Pick<MountConfig, 'server' | 'workspace' | 'branch' | 'path'>

/** A daemon whose supervisor was killed ends by itself. */
const endingMs = 2000

interface Taken {
  readonly directory: string
  /** Another process began it. */
  readonly isAbandoned: boolean
}

/**
 * The directory for a new mount, below `mounts`: that of a mount of the same files whose processes were killed with
 * something to hand in, so that this one does it, else an empty one.
 */
export async function takeDirectory(mounts: string, id: string, files: Files): Promise<Taken> {
  await mkdir(mounts, { recursive: true, mode: 0o700 })
  const own = join(mounts, id)
  for (const name of await readdir(mounts)) {
    const place = join(mounts, name)
    const state = readState(place)
    if (state === undefined || isRunning(state.supervisor)) continue
    await untilEnded(state)
    if (findLeftBehind(join(place, 'spool')).operations === 0)
      await rm(place, { recursive: true, force: true })
    // When several processes find it, one of them can rename it.
    else if (isOf(state, files) && (await wasRenamed(place, own)))
      return { directory: own, isAbandoned: true }
  }
  return { directory: own, isAbandoned: false }
}

async function untilEnded({ daemon }: MountState): Promise<void> {
  const deadline = performance.now() + endingMs
  while (daemon !== undefined && isRunning(daemon) && performance.now() < deadline) await sleep(10)
}

function isOf(state: Files, { server, workspace, branch, path }: Files): boolean {
  return (
    state.server === server &&
    state.workspace === workspace &&
    state.branch === branch &&
    state.path === path
  )
}

function wasRenamed(place: string, own: string): Promise<boolean> {
  return rename(place, own).then(
    () => true,
    () => false,
  )
}
