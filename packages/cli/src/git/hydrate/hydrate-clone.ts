import { resolve } from 'node:path'
import type { Cli } from '../../cli.ts'
import { shellWord } from '../../output/shell-words.ts'
import type { Remote, WorkspaceValues } from '../../remote/open.ts'
import { findMissing, gitIn } from '../objects.ts'
import type { GitPlace } from '../place.ts'
import { beginInBackground } from './background.ts'
import { type HydrateReceipt, hydrate } from './hydrate.ts'
import { copyRepository, type LocalRepository } from './local-repository.ts'

export const hydrateWishes = ['auto', 'background', 'sync', 'off'] as const
export type HydrateWish = (typeof hydrateWishes)[number]

/** `auto` waits for no more than that. */
const quickMax = 1000

export type HydrationBegun = 'off' | 'background' | HydrateReceipt

interface CloneWishes {
  readonly blobless: boolean
  readonly hydrate: HydrateWish
  readonly credential?: string | undefined
}

/** Brings in what a new clone lacks, as it was asked for. In the background, the local repository is left to a process. */
export async function hydrateClone(
  cli: Cli,
  { remote, values }: GitPlace,
  { blobless, hydrate: wish, credential }: CloneWishes,
  local: LocalRepository | undefined,
): Promise<HydrationBegun | undefined> {
  if (!blobless) return undefined
  if (wish === 'off') return 'off'
  const words = hydrateWords(remote, values, credential)
  const missing = local && (await findMissing(gitIn(cli, local))).length
  const isQuick = missing === 0 || (wish === 'auto' && (missing ?? quickMax) < quickMax)
  if (wish !== 'sync' && !isQuick) {
    await beginInBackground(cli, words, local)
    return 'background'
  }
  const gitPath = gitPathOf(remote)
  const open = async (): Promise<LocalRepository> => local ?? copyRepository(cli, remote, gitPath)
  return hydrate(cli, { remote, gitPath, open, credential, again: hydrateLine(words) })
}

export function gitPathOf({ path }: Remote): string {
  return `${path.replace(/\/+$/, '')}/.git`
}

export function hydrateLine(words: readonly string[]): string {
  return `cairn git hydrate ${words.map(shellWord).join(' ')}`
}

/** What `cairn git hydrate` is called with, so that it means the same from everywhere. */
export function hydrateWords(
  { path, workspace }: Remote,
  { context, server, 'api-key-file': keyFile }: WorkspaceValues,
  credential: string | undefined,
): readonly string[] {
  const options = {
    workspace: workspace.name,
    layer: workspace.options.layer,
    context,
    server,
    'api-key-file': keyFile === undefined ? undefined : resolve(keyFile),
    credential,
  }
  const given = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, value],
  )
  return [`:${path}`, ...given]
}
