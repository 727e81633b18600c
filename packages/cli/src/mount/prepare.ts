import { mkdirSync, rmdirSync, type Stats, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { findLeftBehind, memoryBudget, type MountConfig } from '@cairn/mount/beside'
import { toByteString } from '@cairn/protocol'
import { CairnError, isCairnError } from '@cairn/sdk'
import type { Cli } from '../cli.ts'
import { findCredentials } from '../context/credentials.ts'
import { cliError, usageError } from '../errors.ts'
import { parseRemote } from '../remote/location.ts'
import { findStat, openRemote, type Remote, type WorkspaceValues } from '../remote/open.ts'
import { profileOf } from './profiles.ts'
import { tellHidden } from './hidden.ts'
import { clearDead, cutOffDead, findMount, type Found } from './find-mount.ts'
import { untilHandedIn } from './until-handed-in.ts'
import { refuseOwnPlaces } from './own-places.ts'
import { findSpool, mountPointOf, stateDirectory } from './places.ts'
import { commandLine, shellWord } from '../output/shell-words.ts'

export interface MountValues extends WorkspaceValues {
  readonly checkpoint: string | undefined
  readonly 'read-only': boolean
  readonly 'allow-other': boolean
  readonly 'shared-locks': boolean
  readonly 'tool-calls': boolean
  readonly durability: MountConfig['durability'] | undefined
  readonly profile: string | undefined
  readonly 'local-only': readonly string[]
  readonly 'remote-only': readonly string[]
  readonly scratch: readonly string[]
  readonly 'local-root': string | undefined
  readonly 'cache-dir': string | undefined
  readonly 'cache-size': number | undefined
  readonly memory: number | undefined
  readonly uid: number | undefined
  readonly gid: number | undefined
}

interface Prepared {
  readonly config: MountConfig
  /** Operations that a killed mount left here: the new one sends them. */
  readonly leftOperations: number
  /** Removes the directories that were made for it. */
  readonly undo: () => void
}

const mib = 1 << 20
const cacheMib = 4096

/** Looks at both ends first, then makes what is missing: what cannot be mounted leaves no trace. */
export async function prepareMount(
  cli: Cli,
  args: { readonly path: string; readonly directory: string },
  options: MountValues,
): Promise<Prepared> {
  const past = pastOf(options)
  const readOnly = options['read-only'] || past !== undefined
  if (readOnly) refuseIdleLocks(options)
  const mountPoint = mountPointOf(args.directory)
  refuseOwnPlaces(cli, mountPoint, options['local-root'] ?? options['cache-dir'])
  const location = parseRemote(args.path)
  const remote = await openRemote(cli, { ...options, at: past }, location)
  const isThere = await checkRemote(cli, remote, { ...options, at: past, 'read-only': readOnly })
  const dead = await findDead(cli, mountPoint, args.directory)
  const replacesDead = dead !== undefined && (await cutOffDead(mountPoint, dead.state))
  const undo = replacesDead ? () => {} : makeMountPoint(mountPoint)
  try {
    if (!replacesDead) await tellHidden(cli, mountPoint)
    if (!isThere) {
      await remote.files.mkdir(remote.path, { parents: true, signal: cli.signal })
      await cli.err.line(`made the directory :${remote.path} in workspace ${remote.workspace.name}`)
    }
    const { apiKey: key } = await findCredentials(cli, {
      ...options,
      context: location.context ?? options.context,
    })
    const { id } = await remote.cairn.workspaces.get(remote.workspace.name, { signal: cli.signal })
    const ends = { remote, id, key, mountPoint, past, readOnly, replacesDead }
    const config = configOf(cli, ends, options)
    mkdirSync(config.directory, { recursive: true, mode: 0o700 })
    const { operations } = findLeftBehind(config.cacheDirectory)
    return { config, leftOperations: operations, undo }
  } catch (error) {
    undo()
    throw error
  }
}

/** The checkpoint to show: two words for one thing, as people know both. */
function pastOf({ at, checkpoint }: MountValues): string | undefined {
  if (at === undefined || checkpoint === undefined || at === checkpoint) return checkpoint ?? at
  throw usageError(
    `mount checkpoints ${checkpoint} and ${at} at once`,
    '--checkpoint and --at mean the same',
    'Give one of them.',
  )
}

/** Locks last for as long as their session says that it writes. */
function refuseIdleLocks(options: MountValues): void {
  if (options['shared-locks'])
    throw usageError(
      'share the locks of a mount that is read-only',
      'only one that writes can hold them',
      'Leave out --shared-locks, or mount what can be written.',
    )
}

/** Whether the remote directory is there. */
async function checkRemote(cli: Cli, remote: Remote, options: MountValues): Promise<boolean> {
  const found = await findStat(remote, cli.signal).catch((error: unknown) => {
    throw cannotReach(remote, options, error)
  })
  const what = `mount :${remote.path}`
  if (found && found.kind !== 'directory') {
    const hint = commandLine`Mount the directory it is in: cairn mount :${dirname(remote.path)} DIRECTORY.`
    throw cliError('mount_failed', what, `it is a ${found.kind}`, hint)
  }
  if (!found && options['read-only']) {
    const hint =
      options.at === undefined
        ? commandLine`Make it with: cairn fs mkdir :${remote.path}; or mount without --read-only.`
        : `See what was there then: cairn fs ls ${pointWords(options)} ${shellWord(`:${dirname(remote.path)}`)}.`
    throw cliError('mount_failed', what, 'it does not exist', hint)
  }
  return found !== undefined
}

/** The options that name the same point. */
function pointWords({ layer, branch, at }: MountValues): string {
  const named = { layer, branch, at }
  return Object.entries(named)
    .flatMap(([option, value]) => (value === undefined ? [] : [`--${option} ${shellWord(value)}`]))
    .join(' ')
}

/** The same failure, told of what the user asked for. */
function cannotReach(
  { workspace, path, server }: Remote,
  { layer, branch, at }: MountValues,
  error: unknown,
): unknown {
  if (!isCairnError(error)) return error
  const { code, hint, reason, errno } = error
  const reasons: Readonly<Record<string, string>> = {
    workspace_missing: 'there is no such workspace',
    unauthenticated: 'the server does not take the key',
  }
  const of = layer ?? branch
  const point = `${of === undefined ? '' : ` of ${of}`}${at === undefined ? '' : ` at ${at}`}`
  const what = `mount ${workspace.name}:${path}${point} from ${server}`
  return new CairnError(code, { what, reason: reasons[code] ?? reason, hint, errno, cause: error })
}

export async function clearPlace(cli: Cli, mountPoint: string, given: string): Promise<void> {
  const dead = await findDead(cli, mountPoint, given)
  if (dead) await clearDead(mountPoint, dead.state)
}

/** The dead mount at the place, if there is one. A live one is in the way. */
async function findDead(
  cli: Cli,
  mountPoint: string,
  given: string,
): Promise<Extract<Found, { kind: 'dead' }> | undefined> {
  await untilHandedIn(cli, mountPoint)
  const found = await findMount(cli, mountPoint)
  if (found.kind === 'none') return undefined
  if (found.kind === 'dead') return found
  const isForeign = found.kind === 'foreign'
  throw cliError(
    'mount_failed',
    `mount on ${mountPoint}`,
    isForeign ? 'another user has a workspace mounted there' : 'a workspace is mounted there',
    isForeign
      ? 'Choose another directory.'
      : commandLine`See: cairn mount status ${given}; end it with: cairn umount ${given}.`,
  )
}

/** Gives what takes it away again. */
export function makeMountPoint(mountPoint: string): () => void {
  try {
    const first = makeDirectories(mountPoint)
    return () => removeMade(mountPoint, first)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    const [reason, hint] = localRemedies[code] ?? [code, 'Choose another directory.']
    throw cliError('mount_failed', `mount on ${mountPoint}`, reason, hint, error)
  }
}

/**
 * As `mkdir -p`. Gives the first one that was made. One at a time, because Node's recursive way never returns where a
 * file system such as /proc says that a name is missing and cannot be made.
 */
function makeDirectories(path: string): string | undefined {
  const missing: string[] = []
  const find = (at: string): Stats | undefined => statSync(at, { throwIfNoEntry: false })
  for (let at = path; !find(at); at = dirname(at)) missing.unshift(at)
  for (const directory of missing) mkdirSync(directory)
  if (!find(path)?.isDirectory()) throw Object.assign(new Error(path), { code: 'EEXIST' })
  return missing[0]
}

const localRemedies: Readonly<Record<string, readonly [reason: string, hint: string]>> = {
  EEXIST: ['it is not a directory', 'Choose another place, or move what is there.'],
  ENOTDIR: ['something on the way is not a directory', 'Check the path.'],
  EACCES: ['this user may not make it', 'Choose a directory of yours, or make it as its owner.'],
  ENOENT: ['this file system takes no new directories', 'Choose another place.'],
  EROFS: ['it does not exist and cannot be made: the disk is read-only', 'Choose another place.'],
  ENOTCONN: ['a dead mount is on the way', 'Take it away: umount -l on the directory above.'],
}

function removeMade(mountPoint: string, first: string | undefined): void {
  if (first === undefined) return
  for (let at = mountPoint; at.length >= first.length; at = dirname(at))
    try {
      rmdirSync(at)
    } catch {
      // A user has put something into it.
      return
    }
}

/** What was made through HTTP or by a root elsewhere is the user's who mounts it; of root it is anyway. */
function ownId(id: number | undefined): number | undefined {
  return id === 0 ? undefined : id
}

interface Ends {
  readonly remote: Remote
  /** The id of the workspace. */
  readonly id: string
  readonly key: string
  readonly mountPoint: string
  readonly past: string | undefined
  readonly readOnly: boolean
  readonly replacesDead: boolean
}

function configOf(cli: Cli, ends: Ends, options: MountValues): MountConfig {
  const { remote, id, key, mountPoint, past, readOnly, replacesDead } = ends
  const directory = stateDirectory(cli, mountPoint)
  const identity = {
    mountPoint,
    server: remote.server,
    workspace: remote.workspace.name,
    // A checkpoint may be found by its label alone.
    branch: options.layer ?? options.branch ?? (past === undefined ? 'main' : ''),
    at: past,
    path: toByteString(new TextEncoder().encode(remote.path)),
    readOnly,
  }
  const base = resolve(options['local-root'] ?? options['cache-dir'] ?? directory)
  return {
    ...identity,
    replacesDead,
    workspaceId: id,
    key,
    allowOther: options['allow-other'],
    sharedLocks: options['shared-locks'],
    toolCalls: options['tool-calls'],
    durability: options.durability ?? 'auto',
    profile: readOnly ? undefined : profileOf(cli, options),
    directory,
    cacheDirectory: findSpool(base, identity, id),
    cacheBytes: (options['cache-size'] ?? cacheMib) * mib,
    memoryBytes: options.memory === undefined ? memoryBudget() : options.memory * mib,
    uid: options.uid ?? ownId(process.getuid?.()),
    gid: options.gid ?? ownId(process.getgid?.()),
  }
}
