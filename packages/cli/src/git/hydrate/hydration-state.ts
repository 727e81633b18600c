import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Cli } from '../../cli.ts'
import { findMissing, gitIn } from '../objects.ts'
import {
  hydrationFile,
  type HydrationNote,
  isUnderWay,
  parseHydrationNote,
} from './hydration-file.ts'

export interface HydrationState {
  /** `off`: objects are missing, and git fetches each when a command needs it. */
  readonly state: 'done' | 'off' | 'running' | 'interrupted' | 'failed'
  readonly missing: number
  /** Why it failed. */
  readonly reason?: string | undefined
  /** When the process that fetches was last heard of. */
  readonly at?: string | undefined
}

/** As git counts, in a working tree of this machine. */
export async function readHydrationState(
  cli: Cli,
  path: string,
  isPartial: boolean,
): Promise<HydrationState> {
  const git = gitIn(cli, { cwd: path })
  const note = await readNote(path, git)
  if (!isPartial && !note) return { state: 'done', missing: 0 }
  const missing = (await findMissing(git)).length
  if (note && isUnderWay(note)) return { state: 'running', missing, at: note.at }
  if (missing === 0) return { state: 'done', missing }
  if (!note) return { state: 'off', missing }
  const { reason, at } = note
  return note.state === 'failed'
    ? { state: 'failed', missing, reason, at }
    : { state: 'interrupted', missing, at }
}

async function readNote(
  path: string,
  git: ReturnType<typeof gitIn>,
): Promise<HydrationNote | undefined> {
  const common = (await git(['rev-parse', '--git-common-dir'])).toString().replace(/\n$/, '')
  const text = await readFile(resolve(path, common, hydrationFile), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : parseHydrationNote(text)
}
