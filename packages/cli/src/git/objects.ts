import type { Cli } from '../cli.ts'
import { runGit } from './run-git.ts'
import type { GitSecret } from './secret.ts'

/** Runs git in one repository, and gives what it prints. */
export type RunGit = (args: readonly string[], input?: string | Uint8Array) => Promise<Buffer>

interface GitIn {
  readonly cwd: string
  readonly secret?: GitSecret | undefined
  readonly env?: Readonly<Record<string, string>>
}

export function gitIn(cli: Cli, { cwd, secret, env = {} }: GitIn): RunGit {
  const ownEnv = { ...env, ...secret?.env }
  return (args, input) =>
    runGit(cli, [...(secret?.args ?? []), ...args], {
      cwd,
      env: ownEnv,
      ...(input === undefined ? {} : { input }),
    })
}

/** Their ids: what commits, branches, the log of HEAD and the index name, and what is not there. Asks no other host. */
export async function findMissing(git: RunGit): Promise<string[]> {
  const all = ['--objects', '--all', '--reflog', '--indexed-objects']
  const output = await git(['rev-list', '--quiet', ...all, '--missing=print'])
  const lines = output.toString('latin1').split('\n')
  return lines.filter((line) => line.startsWith('?')).map((line) => line.slice(1))
}

/** In one request, where git would make one for each. They arrive as a pack. */
export async function fetchObjects(
  git: RunGit,
  remote: string,
  oids: readonly string[],
): Promise<void> {
  if (oids.length === 0) return
  const settings = ['fetch.negotiationAlgorithm=noop', 'gc.auto=0', 'maintenance.auto=false']
  const wishes = ['--no-tags', '--no-write-fetch-head', '--recurse-submodules=no']
  await git(
    settings
      .flatMap((setting) => ['-c', setting])
      .concat(['fetch', '-q', remote, ...wishes, '--filter=blob:none', '--stdin']),
    `${oids.join('\n')}\n`,
  )
}
