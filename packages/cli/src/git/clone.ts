import { gatherChunks } from '@cairn/protocol'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ImportReceipt, isCairnError } from '@cairn/sdk'
import type { Cli } from '../cli.ts'
import { usageError } from '../errors.ts'
import { findStat } from '../remote/open.ts'
import { remotePath } from '../copy/remote-path.ts'
import { prepareTree, tarOfClone } from './clone-tree.ts'
import { setFsmonitor } from './fsmonitor.ts'
import { hydrateClone, type HydrateWish, type HydrationBegun } from './hydrate/hydrate-clone.ts'
import { localClone } from './hydrate/local-repository.ts'
import { type IndexStat, olderNs, timeOfFiles, withStats } from './index-file.ts'
import type { GitPlace } from './place.ts'
import { runGit } from './run-git.ts'
import { type GitSecret, readGitSecret } from './secret.ts'
import { SentEntries, type SentStat } from './sent-entries.ts'

export interface CloneOptions {
  readonly url: string
  readonly branch?: string | undefined
  readonly depth?: number | undefined
  readonly blobless: boolean
  readonly sparse: boolean
  readonly hydrate: HydrateWish
  /** `vault:NAME/FIELD`: the password for git. */
  readonly credential?: string | undefined
}

export interface CloneReceipt extends Omit<ImportReceipt, 'inodes'> {
  /** Entries of the index that git need not look into. */
  readonly indexed: number
  readonly submodules: readonly string[]
  readonly lfsFiles: readonly string[]
}

export interface Cloned {
  /** Undefined where an earlier, interrupted clone had done all of it. */
  readonly receipt: CloneReceipt | undefined
  /** Undefined for a clone that has all content. */
  readonly hydration: HydrationBegun | undefined
}

/** Below the clone. It is there until the index is written, and names the clone. */
const marker = '.git/cairn-clone'

/** Clones a repository into a workspace as one change, and begins to fetch what a partial clone lacks. */
export async function cloneInto(cli: Cli, place: GitPlace, options: CloneOptions): Promise<Cloned> {
  const { remote } = place
  if (await isBegun(cli, place, options.url)) {
    await remote.files.remove(remotePath(remote.path, marker), { signal: cli.signal })
    const hydration = await hydrateClone(cli, place, options, undefined)
    return { receipt: undefined, hydration }
  }
  const directory = await mkdtemp(join(tmpdir(), 'cairn-git-'))
  let isLeft = false
  try {
    const repository = join(directory, 'repository')
    const receipt = await cloneThrough(cli, place, options, repository)
    const local = await localClone(directory, repository, options.url)
    const hydration = await hydrateClone(cli, place, options, local)
    isLeft = hydration === 'background'
    return { receipt, hydration }
  } finally {
    if (!isLeft) await rm(directory, { recursive: true, force: true })
  }
}

async function cloneThrough(
  cli: Cli,
  place: GitPlace,
  options: CloneOptions,
  repository: string,
): Promise<CloneReceipt> {
  const { remote } = place
  const { files, path } = remote
  const { url, credential, sparse: isSparse, blobless: isBlobless } = options
  const secret =
    credential === undefined
      ? undefined
      : await readGitSecret(cli, remote.workspace, url, credential)
  await fetchRepository(cli, options, secret, repository)
  const tree = await prepareTree(cli, repository, { isSparse, isBlobless, secret })
  await setFsmonitor(cli, repository)
  const mtimeNs = timeOfFiles()
  const extra = new Map([[marker, `${url}\n`]])
  const sent = new SentEntries()
  const archive = (): AsyncIterable<Uint8Array> => {
    const onEntry = sent.begin()
    return gatherChunks(tarOfClone({ cli, repository, tree, mtimeNs, extra, onEntry }))
  }
  const { inodes, ...receipt } = await files.importTar(path, archive, {
    inodes: true,
    signal: cli.signal,
  })
  const index = await readFile(join(repository, '.git/index')).catch(() => undefined)
  const indexed =
    index && inodes
      ? await writeIndex(cli, place, index, { stats: sent.stats(inodes), mtimeNs })
      : 0
  await files.remove(remotePath(path, marker), { signal: cli.signal })
  const { submodules, lfsFiles } = tree
  return { ...receipt, indexed, submodules, lfsFiles }
}

/** Whether this clone is there, and was only not finished. Anything else in the way is refused. */
async function isBegun({ signal }: Cli, { remote }: GitPlace, url: string): Promise<boolean> {
  const { files, path } = remote
  const there = await findStat(remote, signal)
  if (!there) return false
  if (there.kind === 'directory') {
    if ((await files.listPage(path, { limit: 1, signal })).items.length === 0) return false
    const text = await files
      .readText(remotePath(path, marker), { signal })
      .catch((error: unknown) => {
        if (isCairnError(error) && error.errno !== undefined) return ''
        throw error
      })
    if (text === `${url}\n`) return true
  }
  throw usageError(
    `clone into ${path}`,
    there.kind === 'directory' ? 'the directory is not empty' : `it is a ${there.kind}`,
    'Name a directory that is empty or not there.',
  )
}

async function fetchRepository(
  cli: Cli,
  { url, branch, depth, blobless, sparse }: CloneOptions,
  own: GitSecret | undefined,
  repository: string,
): Promise<void> {
  const wishes = [
    // Else git names the temporary directory.
    '--quiet',
    ...(cli.err.isTerminal ? ['--progress'] : []),
    ...(branch === undefined ? [] : ['--branch', branch]),
    ...(depth === undefined ? [] : ['--depth', String(depth)]),
    ...(blobless ? ['--filter=blob:none'] : []),
    ...(sparse ? ['--sparse'] : []),
  ]
  const args = [...(own?.args ?? []), 'clone', '--no-checkout', ...wishes, '--', url, repository]
  await runGit(cli, args, { isShown: true, ...(own && { env: own.env }) })
}

/**
 * Writes into the index what a stat of each file gives, so that the first `git status` reads no file. A file that was changed
 * since has other times, so git looks into it. Gives how many.
 */
async function writeIndex(
  cli: Cli,
  { remote, uid, gid }: GitPlace,
  before: Uint8Array,
  { stats, mtimeNs }: { readonly stats: ReadonlyMap<string, SentStat>; readonly mtimeNs: bigint },
): Promise<number> {
  const { files, path } = remote
  const { signal } = cli
  const place = remotePath(path, '.git/index')
  const there = await findStat({ files, path: place as string }, signal)
  // A program in a mount may have used git already, and then has an index of its own.
  if (there?.mtimeNs !== String(mtimeNs)) return 0
  let indexed = 0
  const find = (name: string): IndexStat | undefined => {
    const stat = stats.get(name)
    if (stat) indexed++
    return stat && { ...stat, mtimeNs, uid, gid }
  }
  const after = withStats(before, find)
  if (!after) return 0
  try {
    await files.write(place, after, { ifMatch: there.etag, signal })
    await files.touch(place, { mtime: new Date(Number((mtimeNs + olderNs) / 1_000_000n)), signal })
  } catch (error) {
    if (!isCairnError(error, 'precondition_failed')) throw error
    return 0
  }
  return indexed
}
