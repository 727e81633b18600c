import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cli } from '../../cli.ts'
import { LocalSink } from '../../copy/local-sink.ts'
import { CopyProgress } from '../../copy/observer.ts'
import { remotePath } from '../../copy/remote-path.ts'
import { unpackTree } from '../../copy/unpack-tree.ts'
import { cliError } from '../../errors.ts'
import type { Remote } from '../../remote/open.ts'
import { runGit } from '../run-git.ts'

/** A repository on this disk, from which objects can be fetched without touching the one in the workspace. */
export interface LocalRepository {
  /** Removed when the work is done. */
  readonly directory: string
  readonly cwd: string
  /** Has git write objects into a directory of their own. */
  readonly env: Readonly<Record<string, string>>
  /** Where the packs of these objects are. */
  readonly packs: string
  readonly remote: string
  readonly url: string
}

/** With a repository that git has cloned here. */
export async function localClone(
  directory: string,
  cwd: string,
  url: string,
): Promise<LocalRepository> {
  return { ...(await separate(directory, join(cwd, '.git'))), cwd, remote: 'origin', url }
}

/** Copies a `.git` of the workspace. Its settings are another client's words and would run programs: they stay out. */
export async function copyRepository(
  cli: Cli,
  { files }: Remote,
  gitPath: string,
): Promise<LocalRepository> {
  const { signal } = cli
  const directory = await mkdtemp(join(tmpdir(), 'cairn-git-'))
  try {
    const copy = join(directory, 'repository')
    await download(cli, files, gitPath, copy)
    const [config, untrusted] = [join(copy, 'config'), join(directory, 'config')]
    await writeFile(untrusted, await files.read(remotePath(gitPath, 'config'), { signal }))
    for (const name of ['config', 'config.worktree', 'commondir', 'hooks', 'objects/info'])
      await rm(join(copy, name), { recursive: true, force: true })
    const { remote, url, extensions } = await readSettings(cli, untrusted, gitPath)
    await writeFile(config, '[core]\n\trepositoryformatversion = 1\n\tbare = true\n', {
      flag: 'wx',
    })
    const settings = [
      ...extensions,
      [`remote.${remote}.url`, url],
      [`remote.${remote}.promisor`, 'true'],
    ] as const
    for (const [name, value] of settings) await runGit(cli, ['config', '-f', config, name, value])
    const { env, ...rest } = await separate(directory, copy)
    return { ...rest, env: { ...env, GIT_DIR: copy }, cwd: copy, remote, url }
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw error
  }
}

async function separate(
  directory: string,
  gitDirectory: string,
): Promise<Pick<LocalRepository, 'directory' | 'env' | 'packs'>> {
  const own = join(directory, 'fetched')
  const packs = join(own, 'pack')
  await mkdir(packs, { recursive: true })
  const env = {
    GIT_OBJECT_DIRECTORY: own,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(gitDirectory, 'objects'),
  }
  return { directory, env, packs }
}

async function download(
  cli: Cli,
  files: Remote['files'],
  gitPath: string,
  to: string,
): Promise<void> {
  const progress = new CopyProgress(cli)
  const archive = await files.archive(gitPath, { signal: cli.signal })
  const root = { path: '', kind: 'directory', size: 0, mode: 0o700, version: '' } as const
  await unpackTree(archive, new LocalSink(to, { resume: false }), root, progress, cli.signal)
  await progress.end()
}

interface Settings {
  readonly remote: string
  readonly url: string
  readonly extensions: readonly (readonly [string, string])[]
}

/** What has to be known of a configuration that is not trusted: git reads it as a file, and obeys none of it. */
async function readSettings(cli: Cli, config: string, gitPath: string): Promise<Settings> {
  const get = async (...args: string[]): Promise<string | undefined> => {
    const output = await runGit(cli, ['config', '-f', config, ...args]).catch(() => undefined)
    return output?.toString().trimEnd()
  }
  const promisors = await get('--name-only', '--get-regexp', String.raw`^remote\..*\.promisor$`)
  const remote = promisors?.split('\n')[0]?.slice('remote.'.length, -'.promisor'.length) ?? 'origin'
  const url = await get(`remote.${remote}.url`)
  if (url === undefined)
    throw cliError(
      'local_file',
      `fetch what is missing of ${gitPath}`,
      'it has no remote to fetch from',
      'Add one with: git remote add origin URL.',
    )
  const names = ['extensions.objectformat', 'extensions.refstorage']
  const values = await Promise.all(
    names.map(async (name) => [name, (await get(name)) ?? ''] as const),
  )
  return { remote, url, extensions: values.filter(([, value]) => value !== '') }
}
