import { existsSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { findCredentials } from '../context/credentials.ts'
import type { Cli } from '../cli.ts'
import { usageError } from '../errors.ts'
import { openWorkspace, type WorkspaceValues } from '../remote/open.ts'
import { runGit } from './run-git.ts'
import { type GitSecret, gitSecret } from './secret.ts'

/** A workspace as a git remote, and the right to use it. */
interface GitRemote {
  readonly url: string
  readonly secret: GitSecret
}

async function openGitRemote(cli: Cli, values: WorkspaceValues): Promise<GitRemote> {
  const { server, apiKey } = await findCredentials(cli, values)
  const { name } = await openWorkspace(cli, values)
  const url = `${server.replace(/\/+$/, '')}/git/${encodeURIComponent(name)}`
  return { url, secret: gitSecret(url, apiKey) }
}

/** Clones the workspace, or fetches into a directory that was exported before, or writes a bundle of git. */
export async function exportToGit(
  cli: Cli,
  values: WorkspaceValues,
  target: string,
): Promise<'cloned' | 'fetched' | 'written'> {
  const { url, secret } = await openGitRemote(cli, values)
  const git = (...args: string[]): Promise<Buffer> =>
    runGit(cli, [...secret.args, ...args], { isShown: true, env: secret.env })
  if (target.endsWith('.bundle'))
    return withTemporary<'written'>(async (directory) => {
      await git('clone', '--mirror', '--', url, directory)
      await git('-C', directory, 'bundle', 'create', resolve(target), '--all')
      return 'written'
    })
  if (!existsSync(target)) {
    await git('clone', '--', url, target)
    return 'cloned'
  }
  const origin = await git('-C', target, 'config', 'remote.origin.url').catch(() => undefined)
  if (origin?.toString().trimEnd() !== url)
    throw usageError(
      `export into ${target}`,
      'it is there, and is no export of this workspace',
      'Name a directory that is not there.',
    )
  await git('-C', target, 'fetch', '--prune', '--tags', '--force', 'origin')
  return 'fetched'
}

/** Pushes the head of a repository, or of a bundle of git, into a layer. */
export async function importFromGit(
  cli: Cli,
  values: WorkspaceValues,
  { source, layer }: { readonly source: string; readonly layer: string },
): Promise<void> {
  const { url, secret } = await openGitRemote(cli, values)
  const push = async (repository: string): Promise<void> => {
    const args = ['-C', repository, 'push', url, `HEAD:refs/heads/attempts/${layer}`]
    await runGit(cli, [...secret.args, ...args], { isShown: true, env: secret.env })
  }
  const there = await stat(source).catch(() => undefined)
  if (!there)
    throw usageError(`import ${source}`, 'it is not there', 'Name a repository or a bundle of git.')
  if (there.isDirectory()) return push(source)
  return withTemporary(async (directory) => {
    await runGit(cli, ['clone', '-q', '--bare', '--', resolve(source), directory])
    await push(directory)
  })
}

async function withTemporary<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'cairn-git-'))
  try {
    return await work(join(directory, 'repository'))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
