import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isCairnError } from '@cairn/sdk'
import type { Cli } from '../cli.ts'
import { readConfig } from '../context/config.ts'
import { cliError } from '../errors.ts'
import { connect } from '../remote/open.ts'
import { firstWorkspaceName } from '../remote/own-workspace.ts'
import { saveLocalContext } from './context.ts'

export interface Entered {
  readonly context: string
  readonly apiKey: string
  readonly workspace: string
}

/**
 * Finds a key that the server on this machine takes, and the context that has it. `owner-key` has the first secret of
 * the key `default`; once that is rotated or removed, a saved context has another one.
 */
export async function enterLocalServer(
  cli: Cli,
  server: string,
  data: string,
  wanted: string | undefined,
): Promise<Entered> {
  const { contexts } = await readConfig(cli)
  const saved = [...contexts].filter(([, each]) => each.server === server && each.kind === 'owner')
  for (const [context, { apiKey, workspace = firstWorkspaceName }] of saved)
    if (await isTaken(cli, server, apiKey))
      return { context, apiKey, workspace: wanted ?? workspace }
  const file = join(data, 'owner-key')
  const apiKey = readFileSync(file, 'utf8').trim()
  if (!(await isTaken(cli, server, apiKey))) throw noKey(server, file, saved)
  const workspace = wanted ?? firstWorkspaceName
  const context = await saveLocalContext(cli, { server, apiKey, workspace })
  return { context, apiKey, workspace }
}

async function isTaken({ signal }: Cli, server: string, apiKey: string): Promise<boolean> {
  try {
    for await (const _ of connect({ server, apiKey }).workspaces.list({ pageSize: 1, signal }))
      break
    return true
  } catch (error) {
    if (isCairnError(error) && ['unauthenticated', 'access_ended'].includes(error.code))
      return false
    throw error
  }
}

function noKey(
  server: string,
  file: string,
  saved: readonly (readonly [string, unknown])[],
): Error {
  const tried = [file, ...saved.map(([name]) => `context ${name}`)].join(' nor of ')
  return cliError(
    'not_configured',
    `enter the server at ${server}`,
    `it does not take the key of ${tried}: it was rotated or removed`,
    `Save one that it takes: cairn ctx add --name local --server ${server} --api-key-file FILE.`,
  )
}
