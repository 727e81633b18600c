import { setTimeout as sleep } from 'node:timers/promises'
import { askControl, findOurMount, type MountState, type MountStatus } from '@cairn/mount/beside'
import type { Cli } from '../cli.ts'
import { findMount } from './find-mount.ts'
import { WaitingLine } from './waiting-line.ts'

const pollMs = 50
/** Between an unmount and the moment its daemon knows of it. */
const noticeMs = 5000

/**
 * Waits for a mount that was unmounted by another command, and whose processes still bring the rest to the server. They
 * and the next mount at this place use one spool. Returns at once where something is mounted.
 */
export async function untilHandedIn(cli: Cli, mountPoint: string): Promise<void> {
  const line = new WaitingLine(cli)
  const deadline = performance.now() + noticeMs
  try {
    for (;;) {
      const found = await findMount(cli, mountPoint)
      if (found.kind !== 'running' || findOurMount(mountPoint)) return
      const status = await askOnce(found.state)
      // In another mount namespace it may be mounted after all.
      if (!status?.isUnmounted && performance.now() > deadline) return
      if (status?.isUnmounted) await line.show(status)
      await sleep(pollMs, undefined, { signal: cli.signal })
    }
  } finally {
    await line.clear()
  }
}

/** Undefined where its daemon does not answer: it may just have ended. */
async function askOnce({ directory }: MountState): Promise<MountStatus | undefined> {
  const limit = AbortSignal.timeout(noticeMs)
  const asked = askControl(directory, 'status', undefined, limit).catch(() => undefined)
  return (await asked) as MountStatus | undefined
}
