import { rm } from 'node:fs/promises'
import { isCairnError } from '@cairn/protocol'
import type { Cli } from '../../cli.ts'
import { cliError } from '../../errors.ts'
import { findStat, type Remote } from '../../remote/open.ts'
import { fetchObjects, findMissing, gitIn, type RunGit } from '../objects.ts'
import { readGitSecret } from '../secret.ts'
import { shownUrl } from '../shown-url.ts'
import { finishHydration } from './finish.ts'
import { removeHydrationNote, writeHydrationNote } from './hydration-file.ts'
import type { LocalRepository } from './local-repository.ts'
import { tellMounts } from './tell-mounts.ts'
import { PackSender } from './send-packs.ts'

/** The first objects are there soon; then requests grow, because each makes a pack. */
const firstBatch = 100
const growth = 10
const largestBatch = 50_000

export interface HydrateReceipt {
  /** Without a user and a password. */
  readonly origin: string
  readonly fetched: number
  readonly bytes: number
}

export interface Hydration {
  readonly remote: Remote
  /** The path of `.git` in the workspace. */
  readonly gitPath: string
  /** What is removed when the work is done. */
  readonly open: () => Promise<LocalRepository>
  /** `vault:NAME/FIELD`, unless git has credentials of its own. */
  readonly credential: string | undefined
  /** What to type to go on. */
  readonly again: string
  /** Others see now that it runs. */
  readonly onBegun?: () => Promise<void>
}

/**
 * Brings every object that a partial clone lacks into the workspace. Each batch is a pack that appears whole; what has
 * arrived stays, whatever happens next.
 */
export async function hydrate(cli: Cli, hydration: Hydration): Promise<HydrateReceipt> {
  const { remote, gitPath } = hydration
  const counts: Counts = { fetched: 0, missing: undefined }
  const begun: Begun = { ...hydration, ino: await inodeOf(remote, gitPath, cli.signal) }
  try {
    await noteRunning(cli, begun, counts)
    await hydration.onBegun?.()
    const repository = await hydration.open()
    try {
      const bytes = await fetchAll(cli, { ...begun, repository }, counts)
      await finishHydration(cli, remote, gitPath)
      await removeHydrationNote(remote.files, gitPath, cli.signal)
      return { origin: shownUrl(repository.url), fetched: counts.fetched, bytes }
    } finally {
      await rm(repository.directory, { recursive: true, force: true })
    }
  } catch (error) {
    await noteFailure(cli, begun, counts, error)
    throw error
  }
}

interface Counts {
  fetched: number
  missing: number | undefined
}

interface Begun extends Hydration {
  /** Of the `.git` that is filled. */
  readonly ino: number | undefined
}

interface Fetching extends Begun {
  readonly repository: LocalRepository
}

/** Gives how many bytes were sent. */
async function fetchAll(cli: Cli, hydration: Fetching, counts: Counts): Promise<number> {
  const { remote, gitPath, repository, credential } = hydration
  const secret =
    credential === undefined
      ? undefined
      : await readGitSecret(cli, remote.workspace, repository.url, credential)
  const git = gitIn(cli, { cwd: repository.cwd, env: repository.env, secret })
  const sender = new PackSender(cli, remote.files, gitPath, repository.packs)
  let size = firstBatch
  let before = new Set<string>()
  for (;;) {
    // Those of a tree are known when the tree is there.
    const missing = await findMissing(git)
    const lacking = missing.filter((oid) => before.has(oid))
    counts.missing = missing.length
    if (lacking.length > 0) throw notAtOrigin(hydration, lacking)
    if (missing.length === 0) return sender.bytes
    for (
      let at = 0;
      at < missing.length;
      at += size, size = Math.min(size * growth, largestBatch)
    ) {
      await noteRunning(cli, hydration, counts)
      const some = missing.slice(at, at + size)
      await fetchSome(git, hydration, some, counts)
      await requireThere(hydration, cli.signal)
      await sender.send()
      counts.fetched += some.length
      counts.missing = missing.length - at - some.length
    }
    before = new Set(missing)
  }
}

async function noteRunning(cli: Cli, begun: Begun, counts: Counts): Promise<void> {
  await requireThere(begun, cli.signal)
  const { remote, gitPath } = begun
  await writeHydrationNote(remote.files, gitPath, { state: 'running', ...counts }, cli.signal)
}

/** What is written below a directory that is gone would make it again. */
async function requireThere({ remote, gitPath, ino }: Begun, signal: AbortSignal): Promise<void> {
  if (ino !== undefined && (await inodeOf(remote, gitPath, signal)) === ino) return
  throw cliError(
    'local_file',
    `hydrate ${gitPath}`,
    'it was removed or replaced meanwhile',
    'Clone the repository again with: cairn git clone --fast',
  )
}

async function inodeOf(
  { files }: Remote,
  path: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  return (await findStat({ files, path }, signal))?.ino
}

async function fetchSome(
  git: RunGit,
  { repository: { remote, url }, gitPath, again }: Fetching,
  oids: readonly string[],
  { missing = 0 }: Counts,
): Promise<void> {
  try {
    await fetchObjects(git, remote, oids)
  } catch (error) {
    if (!isCairnError(error)) throw error
    throw cliError(
      'local_file',
      `fetch what ${gitPath} lacks from ${shownUrl(url)}`,
      error.reason.replaceAll(url, shownUrl(url)),
      `${countObjects(missing)} missing, and all others are here. When the origin answers again: ${again}`,
      error,
    )
  }
}

function notAtOrigin({ repository, gitPath, again }: Fetching, oids: readonly string[]): Error {
  return cliError(
    'local_file',
    `fetch what ${gitPath} lacks from ${shownUrl(repository.url)}`,
    `it does not have ${oids[0]!}${oids.length > 1 ? ` and ${oids.length - 1} more` : ''}`,
    `Push the commits that have them to that host from another clone, then: ${again}`,
  )
}

function countObjects(count: number): string {
  return count === 1 ? '1 object is' : `${count} objects are`
}

/** Best effort: what failed may be the server. */
async function noteFailure(cli: Cli, begun: Begun, counts: Counts, error: unknown): Promise<void> {
  const { remote, gitPath } = begun
  const known = isCairnError(error) ? error : undefined
  const reason = cli.signal.aborted ? 'it was interrupted' : (known?.reason ?? String(error))
  const note = { state: 'failed', ...counts, reason } as const
  const quiet = new AbortController().signal
  await requireThere(begun, quiet)
    .then(() => writeHydrationNote(remote.files, gitPath, note, quiet))
    .catch(() => {})
  await tellMounts(cli, remote, `cannot ${known?.what ?? `hydrate ${gitPath}`}: ${reason}`)
}
