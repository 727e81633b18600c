import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MountConfig } from './config.ts'

/** A process, and not another one that got its number later. */
export interface ProcessMark {
  readonly pid: number
  /** In the kernel's words: ticks since it booted. */
  readonly startedAt: string
}

/** What a mount's supervisor leaves on the disk for commands that look from outside. Without the key. */
export interface MountState extends Omit<MountConfig, 'key'> {
  readonly supervisor: ProcessMark
  readonly daemon?: ProcessMark | undefined
  /** Why the supervisor starts no more daemons. The mount stays in its place and fails every call. */
  readonly givenUp?: string | undefined
}

const fileName = 'state.json'

/**
 * Undefined for a process that has ended, a zombie included: not every sandbox has a process that
 * reaps zombies.
 */
export function markProcess(pid: number): ProcessMark | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return undefined
  }
  // The name of the program comes before and may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, startedAt] = [fields[0], fields[19]]
  return state === 'Z' || state === 'X' || startedAt === undefined ? undefined : { pid, startedAt }
}

export function isRunning({ pid, startedAt }: ProcessMark): boolean {
  return markProcess(pid)?.startedAt === startedAt
}

export interface StateNow {
  readonly daemonPid: number
  /** This process, unless given. */
  readonly supervisorPid?: number
  readonly givenUp?: string
}

export function writeState(
  config: MountConfig,
  { daemonPid, supervisorPid = process.pid, givenUp }: StateNow,
): void {
  const { key: _, ...rest } = config
  const [supervisor, daemon] = [markProcess(supervisorPid)!, markProcess(daemonPid)]
  const state: MountState = { ...rest, supervisor, daemon, givenUp }
  // Whole at any time: a daemon reads it while a supervisor that takes over writes it.
  const path = join(config.directory, fileName)
  const whole = `${path}.${process.pid}`
  writeFileSync(whole, JSON.stringify(state), { mode: 0o600 })
  renameSync(whole, path)
}

/** Undefined where nothing is mounted, or a file was cut short by the end of its sandbox. */
export function readState(directory: string): MountState | undefined {
  try {
    return JSON.parse(readFileSync(join(directory, fileName), 'utf8')) as MountState
  } catch {
    return undefined
  }
}

export function removeState(directory: string): void {
  rmSync(join(directory, fileName), { force: true })
}
