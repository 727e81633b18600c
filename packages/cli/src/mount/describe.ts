import type { MountConfig, MountState } from '@cairn/mount'

type Source = Pick<MountConfig, 'workspace' | 'branch' | 'path'>

/** `demo:/repo`, with the branch if it is not main. */
export function describeSource({ workspace, branch, path }: Source): string {
  const text = Buffer.from(path, 'latin1').toString()
  return `${workspace}:${text}${branch === 'main' ? '' : ` (${branch})`}`
}

/** What stands where a workspace's mount has a directory: those begin with a slash. */
export const vaultPath = 'vault'

/** The command that mounts the same again. */
export function mountAgain({
  workspace,
  branch,
  path,
  readOnly,
  mountPoint,
}: Omit<MountState, 'supervisor'>): string {
  if (path === vaultPath) return `cairn mount vault -w ${workspace} ${mountPoint}`
  const options = [
    `-w ${workspace}`,
    ...(branch === 'main' ? [] : [`--layer ${branch}`]),
    ...(readOnly ? ['--read-only'] : []),
  ]
  return `cairn mount ${options.join(' ')} :${Buffer.from(path, 'latin1').toString()} ${mountPoint}`
}

/** `1 operation`, `2 operations` */
export function countOperations(count: number): string {
  return `${count} ${count === 1 ? 'operation' : 'operations'}`
}
