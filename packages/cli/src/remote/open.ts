import {
  Cairn,
  type ConflictSideName,
  type FileStat,
  type Files,
  isCairnError,
  type Workspace,
} from '@cairn/sdk'
import type { Cli } from '../cli.ts'
import {
  type ConnectionValues,
  type ApiCredentials,
  findCredentials,
} from '../context/credentials.ts'
import { cliError, usageError } from '../errors.ts'
import { leanFetch } from './lean-fetch.ts'
import { findOwnWorkspace } from './own-workspace.ts'
import { parseRemote, type RemoteLocation } from './location.ts'

export interface WorkspaceValues extends ConnectionValues {
  readonly workspace?: string | undefined
  readonly branch?: string | undefined
  readonly layer?: string | undefined
  readonly at?: string | undefined
  readonly side?: ConflictSideName | undefined
}

/** A path of a workspace, ready to be used. */
export interface Remote {
  readonly cairn: Cairn
  readonly workspace: Workspace
  readonly files: Files
  readonly path: string
  readonly server: string
}

export function connect({
  server,
  apiKey,
  toolCall,
}: Pick<ApiCredentials, 'server' | 'apiKey' | 'toolCall'>): Cairn {
  return new Cairn({ server, apiKey, toolCall, fetch: leanFetch })
}

/** Opens what an argument names. The server is asked only where no workspace is named. */
export async function openRemote(
  cli: Pick<Cli, 'env' | 'home'>,
  values: WorkspaceValues,
  where: string | RemoteLocation,
): Promise<Remote> {
  const { context, path } = typeof where === 'string' ? parseRemote(where) : where
  const credentials = await findCredentials(cli, withContext(values, context))
  const cairn = connect(credentials)
  const name = values.workspace || credentials.workspace || (await findOwnWorkspace(cairn, {}))
  if (name === undefined) throw noWorkspace(credentials)
  const { branch, layer, at, side } = values
  if (branch !== undefined && layer !== undefined)
    throw usageError('use --branch and --layer', 'a layer is a branch', 'Give one of them.')
  const workspace = cairn.workspace(name, { branch, layer, at, side })
  return { cairn, workspace, files: workspace.files, path, server: credentials.server }
}

/** The workspace as a whole. */
export async function openWorkspace(
  cli: Pick<Cli, 'env' | 'home'>,
  values: WorkspaceValues,
): Promise<Workspace> {
  return (await openRemote(cli, values, ':/')).workspace
}

function withContext(values: WorkspaceValues, context: string | undefined): ConnectionValues {
  if (context === undefined) return values
  if (values.context === undefined || values.context === context) return { ...values, context }
  throw usageError(
    `use ${context}: together with --context ${values.context}`,
    'they name different contexts',
    'Give one of them.',
  )
}

function noWorkspace({ context }: ApiCredentials): Error {
  const save = context === undefined ? '' : `, or cairn ctx use ${context} --workspace NAME`
  const hint = `Give --workspace NAME${save}. See cairn ws ls; make one with: cairn ws create NAME.`
  return cliError('not_configured', 'find the workspace', 'none is named', hint)
}

/** What is at a path; undefined when nothing is. */
export async function findStat(
  { files, path }: Pick<Remote, 'files' | 'path'>,
  signal: AbortSignal,
  follow = true,
): Promise<FileStat | undefined> {
  try {
    return await files.stat(path, { signal, follow })
  } catch (error) {
    if (isCairnError(error) && error.errno === 'ENOENT') return undefined
    throw error
  }
}

export function isSameWorkspace(a: Remote, b: Remote): boolean {
  return a.server === b.server && a.workspace.name === b.workspace.name && pointOf(a) === pointOf(b)
}

function pointOf({ workspace: { options } }: Remote): string {
  return JSON.stringify([options.layer ?? options.branch ?? 'main', options.at, options.side])
}

/** For what only one workspace can do in itself. */
export function requireSameWorkspace(a: Remote, b: Remote, what: string): void {
  if (isSameWorkspace(a, b)) return
  const hint = 'Copy with cairn fs cp -r, then remove with cairn fs rm -r.'
  throw usageError(what, 'they are in different workspaces', hint)
}
