import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { MountConfig } from '@cairn/mount/beside'
import type { Cli } from '../cli.ts'
import { type ConnectionValues, findCredentials } from '../context/credentials.ts'
import { cliError } from '../errors.ts'
import { connect } from '../remote/open.ts'
import { findMount } from './find-mount.ts'
import { mountPointOf } from './places.ts'
import { beginMount, type StartedMount } from './start.ts'

interface EnsureValues extends ConnectionValues {
  readonly workspace: string
  readonly 'read-only': boolean
  readonly 'allow-other': boolean
}

/** The whole workspace at a place: mounted now, unless it is there as it is wanted. */
export async function ensureMount(
  cli: Cli,
  directory: string,
  options: EnsureValues,
): Promise<StartedMount> {
  const found = await findMount(cli, mountPointOf(directory))
  if (found.kind === 'running' && (await isWanted(cli, found.state, options)))
    return { config: { ...found.state, key: '' }, leftOperations: 0 }
  return beginMount(
    cli,
    { path: ':/', directory },
    {
      ...unsaid,
      ...options,
    },
  )
}

/** What `cairn mount` takes when nothing is said. */
export const unsaid = {
  branch: undefined,
  layer: undefined,
  at: undefined,
  side: undefined,
  checkpoint: undefined,
  foreground: false,
  'shared-locks': false,
  'tool-calls': false,
  durability: undefined,
  profile: undefined,
  'local-only': [],
  'remote-only': [],
  scratch: [],
  'local-root': undefined,
  'cache-dir': undefined,
  'cache-size': undefined,
  memory: undefined,
  uid: undefined,
  gid: undefined,
} as const

type Mounted = Omit<MountConfig, 'key'>

async function isWanted(cli: Cli, mounted: Mounted, want: EnsureValues): Promise<boolean> {
  const { server, workspace, workspaceId, branch, path, at, readOnly } = mounted
  const isWhole = (branch === 'main' || branch === '') && path === '/' && at === undefined
  if (!isWhole || readOnly !== want['read-only']) return false
  const credentials = await findCredentials(cli, want)
  if (credentials.server !== server) return false
  if (workspaceId === undefined) return workspace === want.workspace
  // By its id: it may have been renamed since it was mounted.
  const { workspaces } = connect(credentials)
  return (await workspaces.get(want.workspace, { signal: cli.signal })).id === workspaceId
}

/** Throws unless programs find the workspace there: a directory that is empty by mistake must look like a mistake. */
export async function verifyMount(mountPoint: string, workspace: string): Promise<void> {
  const said = await readFile(join(mountPoint, '.cairn', 'status'), 'utf8').catch(
    (error: NodeJS.ErrnoException) => error,
  )
  if (typeof said === 'string' && said.split('\n').includes(`workspace: ${workspace}`)) return
  throw cliError(
    'mount_failed',
    `find ${workspace} at ${mountPoint}`,
    typeof said === 'string' ? 'something else is mounted there' : (said.code ?? said.message),
    'See: cairn mount ls, cairn doctor.',
    said,
  )
}
