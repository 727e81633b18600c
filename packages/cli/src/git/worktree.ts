import { gatherChunks } from '@cairn/protocol'
import { rename, readFile, rm, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Cli } from '../cli.ts'
import { usageError } from '../errors.ts'
import { findIndex, prepareTree, tarOfFiles, type ClonedTree } from './clone-tree.ts'
import { timeOfFiles, withStats } from './index-file.ts'
import type { GitPlace } from './place.ts'
import { runGit } from './run-git.ts'
import { SentEntries } from './sent-entries.ts'

export interface WorktreeReceipt {
  readonly files: number
  /** Entries of the index that git need not look into. */
  readonly indexed: number
}

export interface WorktreeWishes {
  /** A working tree of the repository. */
  readonly base: string
  readonly directory: string
  readonly rev?: string | undefined
}

/** Makes a worktree whose files arrive as one change, where git would write them one by one. */
export async function addWorktree(
  cli: Cli,
  place: GitPlace,
  { base, directory, rev }: WorktreeWishes,
): Promise<WorktreeReceipt> {
  if (directory.startsWith(':'))
    throw usageError(
      `make a worktree at ${directory}`,
      'git runs on this machine',
      'Mount the workspace and name a directory.',
    )
  const path = resolve(directory)
  const revs = rev === undefined ? [] : [rev]
  await runGit(cli, ['worktree', 'add', '--no-checkout', path, ...revs], {
    cwd: base,
    isShown: true,
  })
  try {
    return await fillWorktree(cli, place, path)
  } catch (error) {
    await runGit(
      { ...cli, signal: new AbortController().signal },
      ['worktree', 'remove', '--force', path],
      {
        cwd: base,
      },
    ).catch(() => undefined)
    throw error
  }
}

async function fillWorktree(cli: Cli, place: GitPlace, path: string): Promise<WorktreeReceipt> {
  const setting = ['config', '--get-regexp', '^remote\\..*\\.promisor$', 'true']
  const isBlobless = await runGit(cli, setting, { cwd: path }).then(
    () => true,
    () => false,
  )
  const tree = await prepareTree(cli, path, { isSparse: false, isBlobless })
  const files = tree.files.length
  if (tree.isCheckedOut || files === 0) return { files, indexed: 0 }
  return { files, indexed: await sendFiles(cli, place, path, tree) }
}

async function sendFiles(
  cli: Cli,
  { remote, uid, gid }: GitPlace,
  path: string,
  tree: ClonedTree,
): Promise<number> {
  const mtimeNs = timeOfFiles()
  const sent = new SentEntries()
  const archive = (): AsyncIterable<Uint8Array> => {
    const onEntry = sent.begin()
    return gatherChunks(tarOfFiles({ cli, repository: path, tree, mtimeNs, onEntry }))
  }
  const { signal } = cli
  const { inodes } = await remote.files.importTar(remote.path, archive, { inodes: true, signal })
  const index = await findIndex(cli, path)
  const stats = inodes && sent.stats(inodes)
  let indexed = 0
  const after = withStats(await readFile(index), (name) => {
    const stat = stats?.get(name)
    if (stat) indexed++
    return stat && { ...stat, mtimeNs, uid, gid }
  })
  if (after) await replaceIndex(index, after)
  return indexed
}

/** As git does it: only the program that made the lock may change the index. */
async function replaceIndex(index: string, bytes: Uint8Array): Promise<void> {
  const lock = `${index}.lock`
  await writeFile(lock, bytes, { flag: 'wx' })
  try {
    await rename(lock, index)
  } catch (error) {
    await rm(lock, { force: true })
    throw error
  }
}
