import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Cli } from '../cli.ts'
import { usageError } from '../errors.ts'
import { baseName, joinPath, parseLocation } from '../remote/location.ts'
import { findStat, openRemote, type Remote, type WorkspaceValues } from '../remote/open.ts'

/** One end of a copy. */
export type Endpoint =
  | { readonly kind: 'stdio' }
  | { readonly kind: 'local'; readonly path: string }
  | { readonly kind: 'remote'; readonly remote: Remote }

/** Here a bare path is local; remote ones have their colon. */
export async function openEndpoint(
  cli: Cli,
  values: WorkspaceValues,
  text: string,
): Promise<Endpoint> {
  if (text === '-') return { kind: 'stdio' }
  const location = parseLocation(text)
  if (location) return { kind: 'remote', remote: await openRemote(cli, values, location) }
  if (text === '') throw usageError('copy', 'a path is empty', 'Give a path, or - for a pipe.')
  return { kind: 'local', path: text }
}

/** Where a file goes: into a directory under its own name, else exactly to the target. */
export async function placeRemote(
  remote: Remote,
  name: string,
  signal: AbortSignal,
): Promise<Remote> {
  const isInto = remote.path.endsWith('/') || (await findStat(remote, signal))?.kind === 'directory'
  return isInto ? { ...remote, path: joinPath(remote.path, name) } : remote
}

/** The same on this machine. */
export async function placeLocal(path: string, name: string): Promise<string> {
  const there = await findLocal(path)
  return path.endsWith('/') || there?.isDirectory() === true ? joinPath(path, name) : path
}

export async function findLocal(
  path: string,
): Promise<Awaited<ReturnType<typeof stat>> | undefined> {
  try {
    return await stat(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

export function localName(path: string): string {
  return basename(path)
}

export function remoteName({ path }: Remote): string {
  return baseName(path)
}

export function needsRecursive(path: string): Error {
  return usageError(
    `copy ${path}`,
    'it is a directory',
    'Give -r to copy it with all that is in it.',
  )
}
