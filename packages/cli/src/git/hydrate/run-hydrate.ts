import { isCairnError } from '@cairn/protocol'
import type { Cli } from '../../cli.ts'
import { cliError, usageError } from '../../errors.ts'
import { parseLocation } from '../../remote/location.ts'
import type { Remote, WorkspaceValues } from '../../remote/open.ts'
import { remotePath } from '../../copy/remote-path.ts'
import { type GitPlace, openGitPlace } from '../place.ts'
import { runGit } from '../run-git.ts'
import { beginInBackground, hearBegin, isStartedInBackground, tellBegun } from './background.ts'
import { type HydrateReceipt, hydrate } from './hydrate.ts'
import { gitPathOf, hydrateLine, hydrateWords } from './hydrate-clone.ts'
import { hydrationFile, isUnderWay, parseHydrationNote } from './hydration-file.ts'
import { copyRepository, type LocalRepository } from './local-repository.ts'

interface HydrateValues extends WorkspaceValues {
  readonly background: boolean
  readonly credential?: string | undefined
}

export async function runHydrate(
  cli: Cli,
  directory: string,
  { background, credential, ...values }: HydrateValues,
): Promise<void> {
  const isBackground = isStartedInBackground(cli)
  const begin = isBackground ? await hearBegin() : undefined
  // The command that started this process has ended before it said anything.
  if (isBackground && !begin) return
  const place = await openRepository(cli, values, directory)
  const gitPath = gitPathOf(place.remote)
  await requireIdle(cli, place.remote, gitPath)
  const words = hydrateWords(place.remote, place.values, credential)
  if (background) {
    await beginInBackground(cli, words, undefined)
    if (cli.isJson) return cli.out.json({ path: place.remote.path, hydration: 'background' })
    return cli.out.line('it is fetched in the background; see: cairn git status DIRECTORY')
  }
  const open = async (): Promise<LocalRepository> =>
    begin?.repository ?? copyRepository(cli, place.remote, gitPath)
  const again = hydrateLine(words)
  const onBegun = isBackground ? tellBegun : undefined
  const receipt = await hydrate(cli, {
    remote: place.remote,
    gitPath,
    open,
    credential,
    again,
    ...(onBegun && { onBegun }),
  })
  await tellReceipt(cli, directory, place.remote.path, receipt)
}

/** The main working tree of what is named: its `.git` has the objects. */
async function openRepository(
  cli: Cli,
  values: WorkspaceValues,
  directory: string,
): Promise<GitPlace> {
  const what = `hydrate ${directory}`
  const top = parseLocation(directory) ? directory : await findMainTree(cli, directory, what)
  const place = await openGitPlace(cli, values, top, what)
  const gitPath = gitPathOf(place.remote)
  const stat = await place.remote.files.stat(gitPath, { signal: cli.signal }).catch(noneThere)
  if (stat?.kind === 'directory') return place
  throw usageError(what, `${gitPath} is not the directory of a repository`, 'Name a clone.')
}

async function findMainTree(cli: Cli, directory: string, what: string): Promise<string> {
  const args = ['rev-parse', '--path-format=absolute', '--git-common-dir']
  const output = await runGit(cli, args, { cwd: directory }).catch(() => undefined)
  const common = output?.toString().replace(/\n$/, '')
  if (common?.endsWith('/.git')) return common.slice(0, -'/.git'.length) || '/'
  throw usageError(what, 'git finds no working tree there', 'Clone one with: cairn git clone')
}

function noneThere(error: unknown): undefined {
  if (!isCairnError(error) || error.errno === undefined) throw error
}

/** Two processes would fetch the same objects. */
async function requireIdle({ signal }: Cli, { files }: Remote, gitPath: string): Promise<void> {
  const text = await files
    .readText(remotePath(gitPath, hydrationFile), { signal })
    .catch((error: unknown) => noneThere(error))
  const note = text === undefined ? undefined : parseHydrationNote(text)
  if (!note || !isUnderWay(note)) return
  const { host, process, at } = note
  throw cliError(
    'precondition_failed',
    `hydrate ${gitPath}`,
    `process ${process.pid} of ${host} does it, and was heard of at ${at}`,
    `Wait for it. If that machine is gone, remove ${gitPath}/${hydrationFile}, and try again.`,
  )
}

async function tellReceipt(
  cli: Cli,
  directory: string,
  path: string,
  receipt: HydrateReceipt,
): Promise<void> {
  if (cli.isJson) return cli.out.json({ path, ...receipt })
  const { fetched, bytes, origin } = receipt
  await cli.out.line(
    fetched === 0
      ? `${directory} has everything`
      : `fetched ${fetched} objects, ${bytes} bytes, from ${origin}; ${directory} has everything`,
  )
}
