import type { Cli } from '../cli.ts'
import { runGit } from './run-git.ts'

/**
 * Answers git's fsmonitor hook from a file of the mount, wherever the workspace is mounted. It names no path of this
 * machine and needs no program of ours, because the repository may be used in another sandbox. Git appends its arguments:
 * the version of the hook and the token. Where the hook ends with 1, git looks at every file: outside of a mount, in a
 * mount of an older version, with another mount below the repository, in paths that the table of mounts spells otherwise,
 * and with a git before 2.36, which may look at no file below a directory that was renamed.
 */
const hook = [
  'cairn() { test "$1" = 2 && cd -P . || exit 1',
  'case $(git version) in *" 1."* | *" 2."[0-9].* | *" 2."[12][0-9].* | *" 2.3"[0-5].*) exit 1 ;; esac',
  'case $PWD in *[[:space:]\\\\]*) exit 1 ;; esac',
  'while read -r _ _ _ _ at _; do case $at in "${PWD%/}"/*) exit 1 ;; esac; done </proc/self/mountinfo || exit 1',
  'top=${PWD%/}',
  'until test -e "$top/.cairn/changes"; do test -n "$top" || exit 1; top=${top%/*}; done',
  'set -- "$2" $(stat -c "%d %i" . "$top/.")',
  'test "$2" = "$4" && exec cat "$top/.cairn/changes-$3-$1"',
  'exit 1; } 2>/dev/null; cairn',
].join('; ')

const settings: readonly (readonly [string, string])[] = [
  ['core.fsmonitor', hook],
  ['core.fsmonitorHookVersion', '2'],
  // Without it git lists every directory to find new files, although no directory has changed.
  ['core.untrackedCache', 'true'],
]

/** Has git ask the mount what changed, instead of looking at each file. */
export async function setFsmonitor(cli: Cli, repository: string): Promise<void> {
  for (const [name, value] of settings)
    await runGit(cli, ['config', name, value], { cwd: repository })
}

/**
 * `unset`: git looks at every file. `elsewhere`: the same, because the hook does not work here. `waiting`: the same this time,
 * because the mount is new, or another mount writes.
 */
export type FsmonitorState = 'working' | 'waiting' | 'elsewhere' | 'unset'

const everything = '/'

/** Asks the hook as git does: twice, because a token that is not known says nothing about the next. */
export async function askFsmonitor(cli: Cli, repository: string): Promise<FsmonitorState> {
  const line = await runGit(cli, ['config', 'core.fsmonitor'], { cwd: repository }).then(
    (output) => output.toString().trimEnd(),
    () => undefined,
  )
  if (line !== hook) return 'unset'
  const first = await askHook(cli, repository, '')
  if (first === undefined) return 'elsewhere'
  const second = await askHook(cli, repository, first.token)
  return second && !second.paths.includes(everything) ? 'working' : 'waiting'
}

interface HookAnswer {
  readonly token: string
  readonly paths: readonly string[]
}

async function askHook(
  cli: Cli,
  repository: string,
  token: string,
): Promise<HookAnswer | undefined> {
  // Through git, so that the hook finds the git that asks it. It begins in the top directory.
  const alias = ['-c', `alias.ask=!${hook}`]
  const output = await runGit(cli, [...alias, 'ask', '2', token], { cwd: repository }).catch(
    () => undefined,
  )
  const [next = '', ...paths] = output?.toString('latin1').split('\0').slice(0, -1) ?? []
  return next === '' ? undefined : { token: next, paths }
}
