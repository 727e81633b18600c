import { setTimeout } from 'node:timers/promises'
import { askControl, isRunning, type MountState, type MountStatus } from '@cairn/mount/beside'

/** As long as a daemon that was killed may take to be replaced. */
const replaceMs = 5000

export interface DaemonStatus extends MountStatus {
  readonly pid: number
  readonly supervisorPid: number
  readonly cacheBytesMax: number
}

/** What a daemon says of itself: `cairn mount status --json` without a process for each question. */
export async function askStatus(state: MountState): Promise<DaemonStatus> {
  const { directory, supervisor, cacheBytes: cacheBytesMax } = state
  for (const endMs = performance.now() + replaceMs; ; await setTimeout(50)) {
    const signal = AbortSignal.timeout(replaceMs)
    const asked = askControl(directory, 'status', undefined, signal) as Promise<DaemonStatus>
    const said = await asked.catch((error: Error) => error)
    if (!(said instanceof Error) && !said.isOpening) return { ...said, cacheBytesMax }
    if (performance.now() > endMs || !isRunning(supervisor))
      throw new Error(`the daemon of ${state.mountPoint} does not answer`, { cause: said })
  }
}
