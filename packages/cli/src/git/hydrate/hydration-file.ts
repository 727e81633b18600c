import { hostname } from 'node:os'
import { isRunning, markProcess, type ProcessMark } from '@cairn/mount/beside'
import { isCairnError } from '@cairn/protocol'
import type { Files } from '@cairn/sdk'
import { remotePath } from '../../copy/remote-path.ts'

/** Below `.git`. It is there while objects are fetched, and after that failed. */
export const hydrationFile = 'cairn-hydrate'

/** What a process says of the objects that it fetches, for `cairn git status` in any sandbox. */
export interface HydrationNote {
  readonly state: 'running' | 'failed'
  readonly host: string
  readonly process: ProcessMark
  readonly at: string
  readonly fetched: number
  /** Unless they are not counted yet. */
  readonly missing?: number | undefined
  /** Why it failed. */
  readonly reason?: string
}

export async function writeHydrationNote(
  files: Files,
  gitPath: string,
  told: Pick<HydrationNote, 'state' | 'fetched' | 'missing' | 'reason'>,
  signal: AbortSignal,
): Promise<void> {
  const process_ = markProcess(process.pid)!
  const at = new Date().toISOString()
  const note: HydrationNote = { ...told, host: hostname(), process: process_, at }
  await files.write(remotePath(gitPath, hydrationFile), `${JSON.stringify(note)}\n`, { signal })
}

/** One that a token may not remove stays; where nothing is missing, it means nothing. */
export async function removeHydrationNote(
  files: Files,
  gitPath: string,
  signal: AbortSignal,
): Promise<void> {
  await files.remove(remotePath(gitPath, hydrationFile), { signal }).catch((error: unknown) => {
    const isLeft = isCairnError(error, 'forbidden')
    if (!isLeft && (!isCairnError(error) || error.errno !== 'ENOENT')) throw error
  })
}

/** Undefined where it is no such note: any program may write there. */
export function parseHydrationNote(text: string): HydrationNote | undefined {
  try {
    const note = JSON.parse(text) as HydrationNote
    return ['running', 'failed'].includes(note.state) && note.process.pid > 0 ? note : undefined
  } catch {
    return undefined
  }
}

/** Whether its process runs, as far as this machine can tell. */
export function isUnderWay({ state, host, process: mark }: HydrationNote): boolean {
  return state === 'running' && (host !== hostname() || isRunning(mark))
}
