import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { shownUrl } from './shown-url.ts'
import type { Cli } from '../cli.ts'
import { usageError } from '../errors.ts'
import { commandLine } from '../output/shell-words.ts'
import { askFsmonitor, type FsmonitorState } from './fsmonitor.ts'
import { type HydrationState, readHydrationState } from './hydrate/hydration-state.ts'
import { runGit } from './run-git.ts'

export interface CloneState {
  /** The top directory of the working tree. */
  readonly path: string
  /** Without a user and a password. Null where it has no origin. */
  readonly origin: string | null
  /** Null where the head is a commit of no branch. */
  readonly branch: string | null
  /** Null before the first commit. */
  readonly commit: string | null
  /** What of the history is there: all of it, or the newest commits; all content, or what was asked for. */
  readonly history: 'whole' | 'shallow'
  readonly content: 'whole' | 'blobless'
  readonly isSparse: boolean
  readonly hydration: HydrationState
  readonly fsmonitor: FsmonitorState
  /** What to type next, if anything. */
  readonly todo: readonly string[]
}

/** What a working tree is, as git and its fsmonitor hook tell. */
export async function readCloneState(cli: Cli, directory: string): Promise<CloneState> {
  const path = await findTop(cli, directory)
  const ask = (...args: string[]): Promise<string | null> => askGit(cli, path, args)
  const [origin, branch, commit, shallow, promisor, sparse] = [
    await ask('config', 'remote.origin.url'),
    await ask('symbolic-ref', '-q', '--short', 'HEAD'),
    await ask('rev-parse', '-q', '--verify', 'HEAD'),
    await ask('rev-parse', '--is-shallow-repository'),
    await ask('config', '--get-regexp', '^remote\\..*\\.promisor$', 'true'),
    await ask('config', '--bool', 'core.sparseCheckout'),
  ]
  const fsmonitor = await askFsmonitor(cli, path)
  const hydration = await readHydrationState(cli, path, promisor !== null)
  return {
    path,
    origin: origin === null ? null : shownUrl(origin),
    branch,
    commit,
    history: shallow === 'true' ? 'shallow' : 'whole',
    content: promisor === null ? 'whole' : 'blobless',
    isSparse: sparse === 'true',
    hydration,
    fsmonitor,
    todo: findTodo(path, { origin, fsmonitor, hydration }),
  }
}

async function findTop(cli: Cli, directory: string): Promise<string> {
  const what = `tell the state of ${directory}`
  if (directory.startsWith(':'))
    throw usageError(what, 'git runs on this machine', 'Mount the workspace and name a directory.')
  if (!existsSync(directory))
    throw usageError(what, 'there is no such directory', 'Name a working tree of git.')
  const top = await askGit(cli, resolve(directory), ['rev-parse', '--show-toplevel'])
  if (top !== null) return top
  throw usageError(what, 'git finds no working tree there', 'Clone one with: cairn git clone')
}

/** Null where git has no answer. */
async function askGit(cli: Cli, cwd: string, args: readonly string[]): Promise<string | null> {
  const output = await runGit(cli, args, { cwd }).catch((error: unknown) => {
    cli.signal.throwIfAborted()
    if (!existsSync(cwd)) throw error
    return undefined
  })
  return output?.toString().replace(/\n$/, '') ?? null
}

function findTodo(
  path: string,
  { origin, fsmonitor, hydration }: Pick<CloneState, 'origin' | 'fsmonitor' | 'hydration'>,
): string[] {
  const todo: string[] = []
  if (existsSync(join(path, '.git/cairn-clone')))
    todo.push(
      commandLine`The clone was interrupted. Run it again: cairn git clone --fast ${shownUrl(origin ?? '')} ${path}`,
    )
  if (hydration.missing > 0 && hydration.state !== 'running')
    todo.push(commandLine`To fetch what is missing: cairn git hydrate ${path}`)
  if (fsmonitor === 'unset')
    todo.push(
      commandLine`To make git status faster in a mount: cairn git status --set-fsmonitor ${path}`,
    )
  if (existsSync(join(path, '.gitmodules')))
    todo.push('It has submodules. To fetch those that are missing: git submodule update --init')
  return todo
}
