import type { Cli } from '../cli.ts'
import { getContext, readConfig, writeConfig } from './config.ts'

/** The contexts that mean a workspace of that server when none is named. */
export async function findNaming(cli: Cli, server: string, workspace: string): Promise<string[]> {
  const { contexts } = await readConfig(cli)
  return [...contexts].flatMap(([name, context]) =>
    context.server === server && context.workspace === workspace ? [name] : [],
  )
}

export async function renameIn(
  cli: Cli,
  names: readonly string[],
  workspace: string,
): Promise<void> {
  if (names.length === 0) return
  const config = await readConfig(cli)
  const changed = names.map((name) => [name, { ...getContext(config, name), workspace }] as const)
  await writeConfig(cli, { ...config, contexts: new Map([...config.contexts, ...changed]) })
}
