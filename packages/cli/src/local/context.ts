import type { Cli } from '../cli.ts'
import { readConfig, withContext, writeConfig } from '../context/config.ts'

export interface LocalAccess {
  readonly server: string
  readonly apiKey: string
  readonly workspace: string | undefined
}

/** Saves it as `local`, unless that is another server's: then its port tells them apart. */
export async function saveLocalContext(cli: Cli, access: LocalAccess): Promise<string> {
  const { server, apiKey, workspace } = access
  const config = await readConfig(cli)
  const known = [...config.contexts].find(
    ([, context]) => context.server === server && context.apiKey === apiKey,
  )
  if (known) return known[0]
  const taken = config.contexts.get('local')
  const isOther = taken !== undefined && taken.server !== server
  const name = isOther ? `local-${new URL(server).port || '80'}` : 'local'
  const context = { kind: 'owner', server, apiKey, ...(workspace && { workspace }) } as const
  await writeConfig(cli, withContext(config, name, context))
  return name
}
