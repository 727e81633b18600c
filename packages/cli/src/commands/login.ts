import { isToken } from '@cairn/protocol'
import { type Command, defineCommand } from '../arguments/command.ts'
import type { Cli } from '../cli.ts'
import { readConfig } from '../context/config.ts'
import { readLogin, saveLogin } from '../context/login.ts'
import { usageError } from '../errors.ts'
import { connect } from '../remote/open.ts'
import { readKeyOption } from '../tokens/own.ts'

export const command: Command = defineCommand({
  summary: 'Save a server and a key, after checking the key',
  description:
    'Saves them in ~/.cairn/credentials.json, readable by you alone: {"token", "apiUrl", "workspace"}.\n' +
    'Programs that create sandboxes may write the same file into them. Options, the environment and a current\n' +
    'context (cairn ctx) take precedence.',
  arguments: {},
  options: {
    server: {
      kind: 'text',
      value: 'URL',
      summary: 'Address of the server (default: CAIRN_SERVER, or that of the last login)',
    },
    'api-key-file': {
      kind: 'text',
      value: 'FILE',
      summary: 'File with the key, readable by you alone; - for standard input',
    },
    token: {
      kind: 'text',
      value: 'FILE',
      summary: 'File with a token, instead of a key; - for standard input',
    },
    workspace: {
      kind: 'text',
      short: 'w',
      value: 'NAME',
      summary: 'Workspace to use when a command names none (default: that of the token)',
    },
  },
  examples: [
    {
      command: 'pass show cairn | cairn login --server https://cairn.example.org --api-key-file -',
      does: 'the key does not appear in the list of processes',
    },
    {
      command: 'cairn login --server http://127.0.0.1:7070 --token agent.token -w website',
      does: 'with a token that you were given',
    },
  ],
  async run({ options, cli }) {
    const apiUrl = options.server ?? (cli.env['CAIRN_SERVER'] || (await lastServer(cli)))
    const token = await readKeyOption(cli, options)
    if (apiUrl === undefined || token === undefined)
      throw usageError(
        'log in',
        `--${apiUrl === undefined ? 'server' : 'api-key-file'} is missing`,
        'Give --server URL and --api-key-file FILE, or --token FILE; - reads it from standard input.',
      )
    const seen = await firstWorkspace(cli, apiUrl, token)
    const workspace = options.workspace ?? (isToken(token) ? seen : undefined)
    await saveLogin(cli, { token, apiUrl, ...(workspace === undefined ? {} : { workspace }) })
    await tell(cli, apiUrl, workspace)
  },
})

async function lastServer(cli: Cli): Promise<string | undefined> {
  return (await readLogin(cli))?.apiUrl
}

/** Asks the server, which refuses a wrong key. For a token there is one workspace, its own. */
async function firstWorkspace(
  cli: Cli,
  server: string,
  apiKey: string,
): Promise<string | undefined> {
  const { workspaces } = connect({ server, apiKey })
  for await (const { name } of workspaces.list({ pageSize: 1, signal: cli.signal })) return name
  return undefined
}

async function tell(cli: Cli, server: string, workspace: string | undefined): Promise<void> {
  const { currentContext } = await readConfig(cli)
  if (cli.isJson) return cli.out.json({ server, workspace, currentContext })
  const where = workspace === undefined ? '' : `, workspace ${workspace}`
  await cli.out.line(`logged in at ${server}${where}`)
  if (currentContext !== undefined)
    await cli.err.line(
      `note: the current context ${currentContext} comes first; without it: cairn ctx rm ${currentContext}`,
    )
}
