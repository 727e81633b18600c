import { sep } from 'node:path'
import type { Cli } from '../cli.ts'
import { usageError } from '../errors.ts'
import { listMounts } from '../mount/find-mount.ts'
import { mountPointOf } from '../mount/places.ts'
import { parseLocation } from '../remote/location.ts'
import { openRemote, type Remote, type WorkspaceValues } from '../remote/open.ts'

export interface GitPlace {
  readonly remote: Remote
  /** With these and the path of `remote`, another process finds it. */
  readonly values: WorkspaceValues
  /** Whose files the repository has, as the mount shows them. */
  readonly uid: number
  readonly gid: number
}

/** Where a repository goes: a path of a workspace, or a directory in a mount of one. */
export async function openGitPlace(
  cli: Cli,
  values: WorkspaceValues,
  text: string,
  what: string = `clone into ${text}`,
): Promise<GitPlace> {
  const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  const location = parseLocation(text)
  if (location) {
    const context = values.context ?? location.context
    const remote = await openRemote(cli, values, location)
    return { ...own, remote, values: { ...values, context } }
  }
  const place = mountPointOf(text)
  const mount = listMounts(cli).find(
    ({ mountPoint, isRunning }) =>
      isRunning && (place === mountPoint || place.startsWith(`${mountPoint}${sep}`)),
  )
  if (!mount)
    throw usageError(
      what,
      'it is in no mount of yours',
      'Mount a workspace first, with: cairn mount :/ DIR; or name a path of one, as :/repo.',
    )
  const { workspace, branch, mountPoint, path, uid = 0, gid = 0 } = mount
  const below = place.slice(mountPoint.length).split(sep).join('/')
  const root = Buffer.from(path, 'latin1').toString().replace(/\/+$/, '')
  const at = { context: undefined, path: `${root}${below}` || '/' }
  const wanted = { ...values, workspace, layer: branch === 'main' ? undefined : branch }
  return { uid, gid, remote: await openRemote(cli, wanted, at), values: wanted }
}
