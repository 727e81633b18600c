import { findDaemonLog, type MountConfig, type MountState } from '@cairn/mount/beside'
import { commandLine } from '../output/shell-words.ts'

type Source = Pick<MountConfig, 'workspace' | 'branch' | 'path' | 'at'>

/** `demo:/repo`, with the branch if it is not main, and the checkpoint if it is the past. */
export function describeSource({ workspace, branch, path, at }: Source): string {
  const text = Buffer.from(path, 'latin1').toString()
  const point = [
    ...(branch === 'main' || branch === '' ? [] : [branch]),
    ...(at === undefined ? [] : [`at ${at}`]),
  ]
  return `${workspace}:${text}${point.length === 0 ? '' : ` (${point.join(' ')})`}`
}

/** What stands where a workspace's mount has a directory: those begin with a slash. */
export const vaultPath = 'vault'

/** The command that mounts the same again. */
export function mountAgain({
  workspace,
  branch,
  at,
  path,
  readOnly,
  mountPoint,
}: Omit<MountState, 'supervisor'>): string {
  if (path === vaultPath) return `cairn mount vault -w ${workspace} ${mountPoint}`
  const options = [
    commandLine`-w ${workspace}`,
    ...(branch === 'main' || branch === '' ? [] : [commandLine`--layer ${branch}`]),
    ...(at === undefined ? [] : [commandLine`--at ${at}`]),
    ...(readOnly && at === undefined ? ['--read-only'] : []),
  ]
  const source = Buffer.from(path, 'latin1').toString()
  return `cairn mount ${options.join(' ')} ${commandLine`:${source} ${mountPoint}`}`
}

/** `1 operation`, `2 operations` */
export function countOperations(count: number): string {
  return `${count} ${count === 1 ? 'operation' : 'operations'}`
}

/** What to look at when a mount's processes do not do what they should. */
export function whereToLook(directory: string): string {
  const log = findDaemonLog(directory)
  return log === undefined ? 'See: cairn doctor.' : `See: cairn doctor; and ${log}.`
}
