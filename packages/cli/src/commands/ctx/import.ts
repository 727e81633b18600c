import { text } from 'node:stream/consumers'
import { Cairn } from '@cairn/sdk'
import { type Command, defineCommand } from '../../arguments/command.ts'
import type { Cli } from '../../cli.ts'
import { checkContextName, readConfig, withContext, writeConfig } from '../../context/config.ts'
import { readToken } from '../../context/token.ts'
import { usageError } from '../../errors.ts'
import { readSecret } from '../../tokens/own.ts'

export const command: Command = defineCommand({
  summary: 'Save a token that was delegated to you',
  description:
    'The token comes from a file that only you can read, or from standard input, because other users can see\n' +
    'arguments. The token names its server.',
  arguments: {},
  options: {
    'from-file': {
      kind: 'text',
      value: 'PATH',
      summary: 'File with the token; - for standard input',
    },
    name: {
      kind: 'text',
      value: 'NAME',
      summary: 'Name of the context (default: the subject of the token)',
    },
    workspace: {
      kind: 'text',
      short: 'w',
      value: 'NAME',
      summary: 'Workspace to use when a command names none',
    },
  },
  examples: [
    {
      command: 'cairn ctx import --from-file ./token --name review',
      does: 'from a file of mode 0600',
    },
    { command: 'pass show cairn | cairn ctx import --from-file -', does: 'from another program' },
  ],
  async run({ options, cli }) {
    const token = (await readGiven(cli, options['from-file'])).trim()
    const claims = readToken(token)
    const server = claims.issuer
    if (server === undefined)
      throw usageError(
        'import the token',
        'it names no issuer',
        'Ask for one with iss set to the URL.',
      )
    new Cairn({ server, apiKey: token })
    const name = checkContextName(options.name ?? claims.subject ?? 'delegated')
    const config = await readConfig(cli)
    if (config.contexts.has(name))
      throw usageError(`save the context ${name}`, 'the name is taken', 'Give another --name.')
    const workspace = options.workspace ?? claims.workspace
    const { scope, expiresAt } = claims
    const changed = withContext(config, name, {
      kind: 'delegated',
      server,
      apiKey: token,
      scope,
      ...(workspace === undefined ? {} : { workspace }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    })
    await writeConfig(cli, changed)
    if (cli.isJson)
      await cli.out.json({ name, kind: 'delegated', server, workspace, scope, expiresAt })
    else await cli.out.line(`saved context ${name}: a token of ${server}`)
  },
})

async function readGiven(cli: Cli, path: string | undefined): Promise<string> {
  if (path === '-' || (path === undefined && cli.stdin.isTTY !== true)) return text(cli.stdin)
  if (path === undefined)
    throw usageError('import a token', 'none is given', 'Give --from-file PATH, or pipe it in.')
  return readSecret(cli, path)
}
