import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Cairn } from '@cairn/sdk'

export interface CairnCommand {
  /** Default: CAIRN_SERVER. */
  readonly server?: string
  /** A key or token. Default: CAIRN_API_KEY. */
  readonly apiKey?: string
  /** The command that mounts. Default: `cairn`. */
  readonly command?: readonly string[]
}

export function open(options: CairnCommand, workspace: string): ReturnType<Cairn['workspace']> {
  const { server, apiKey } = credentialOf(options)
  return new Cairn({ server, apiKey }).workspace(workspace)
}

function credentialOf(options: CairnCommand): { server: string; apiKey: string } {
  const server = options.server ?? process.env['CAIRN_SERVER']
  const apiKey = options.apiKey ?? process.env['CAIRN_API_KEY']
  if (server && apiKey) return { server, apiKey }
  throw new Error(
    `cannot reach the workspace: ${server ? 'the key' : 'the server'} is missing. Give server and apiKey, or set CAIRN_SERVER and CAIRN_API_KEY.`,
  )
}

export async function runCairn(options: CairnCommand, args: readonly string[]): Promise<void> {
  const [file = 'cairn', ...first] = options.command ?? []
  const { server, apiKey } = credentialOf(options)
  const env = { ...process.env, CAIRN_SERVER: server, CAIRN_API_KEY: apiKey }
  await promisify(execFile)(file, [...first, ...args], { env })
}

export function mountLayer(
  options: CairnCommand,
  workspace: string,
  layer: string,
  directory: string,
): Promise<void> {
  return runCairn(options, ['mount', '--workspace', workspace, '--layer', layer, ':/', directory])
}
