import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
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

/**
 * The server may have had another address before. Its first key is in one data directory, so a context of this machine
 * with that key means this server.
 */
export async function moveLocalContext(cli: Cli, data: string, server: string): Promise<void> {
  const apiKey = await readFile(join(data, 'owner-key'), 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  )
  const config = await readConfig(cli)
  const mine = [...config.contexts].filter(([, context]) => context.apiKey === apiKey)
  if (mine.some(([, context]) => context.server === server)) return
  const moved = mine.find(([, context]) => isOnThisMachine(context.server))
  if (!moved) return
  const [name, context] = moved
  await writeConfig(cli, withContext(config, name, { ...context, server }))
}

function isOnThisMachine(server: string): boolean {
  return /^(?:localhost|0\.0\.0\.0|127\.[\d.]+|\[::1?\])$/.test(new URL(server).hostname)
}
