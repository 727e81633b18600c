import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { MountConfig } from '@cairn/mount/beside'
import type { Cli } from '../cli.ts'

type Home = Pick<Cli, 'env' | 'home'>

const linksMax = 40

/**
 * Where a mount point really is. Links are followed by reading them alone: the mount behind it may be dead or not
 * answer. What does not exist yet is taken as it is written.
 */
export function mountPointOf(path: string, links: number = linksMax): string {
  const absolute = resolve(path)
  const parent = dirname(absolute)
  if (parent === absolute) return absolute
  const place = join(mountPointOf(parent, links), basename(absolute))
  const target = links > 0 ? linkTarget(place) : undefined
  return target === undefined ? place : mountPointOf(resolve(dirname(place), target), links - 1)
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    // No link, or nothing at all: the next use of the path reports it.
    return undefined
  }
}

/** Where everything of mounts is kept. */
export function mountsDirectory({ env, home }: Home): string {
  return join(env['XDG_CACHE_HOME'] || join(home, '.cache'), 'cairn', 'mounts')
}

/** Where the processes of the mount at that place keep their state and can be reached. */
export function stateDirectory(cli: Home, mountPoint: string): string {
  return join(mountsDirectory(cli), digest(mountPoint))
}

/** Those of all mounts there are or were. */
export function stateDirectories(cli: Home): string[] {
  const all = mountsDirectory(cli)
  try {
    return readdirSync(all).map((name) => join(all, name))
  } catch {
    return []
  }
}

type SpoolIdentity = Pick<
  MountConfig,
  'server' | 'workspace' | 'branch' | 'at' | 'path' | 'readOnly' | 'mountPoint'
>

/**
 * What was left behind is for the same files alone: another workspace at the same place gets a spool of its own, and so
 * does another mount with the same --cache-dir.
 */
export function findSpool(base: string, of: SpoolIdentity, workspaceId: string): string {
  // Version 0.1 went by the name: it may hold what a killed mount had not sent.
  const byName = spoolDirectory(base, of)
  return existsSync(byName) ? byName : spoolDirectory(base, { ...of, workspace: workspaceId })
}

function spoolDirectory(base: string, of: SpoolIdentity): string {
  const { server, workspace, branch, at, path, readOnly, mountPoint } = of
  const identity = JSON.stringify([
    server,
    workspace,
    branch,
    path,
    readOnly,
    mountPoint,
    ...(at === undefined ? [] : [at]),
  ])
  return join(base, `spool-${digest(identity)}`)
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
