import { isToken } from '@cairn/protocol'
import { Cairn } from '@cairn/sdk'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { checkContextName, readConfig, withContext, writeConfig } from '../../context/config.ts'
import { usageError } from '../../errors.ts'
import { findOwnWorkspace } from '../../remote/own-workspace.ts'
import { readKeyOption } from '../../tokens/own.ts'

const askMs = 5000

export const command: Command = defineCommand({
  summary: 'Save a server and a key under a name',
  description:
    'The first context becomes the current one. Contexts are saved in ~/.cairn/config, or in the file that\n' +
    'CAIRN_CONFIG names; only its owner can read it. A context of the same name is replaced. Without\n' +
    '--workspace, the context uses the workspace default, or the only one that the key opens.',
  arguments: {},
  options: {
    name: { kind: 'text', value: 'NAME', summary: 'Name of the context (default: default)' },
    server: { kind: 'text', value: 'URL', summary: 'Address of the server' },
    'api-key-file': {
      kind: 'text',
      value: 'FILE',
      summary: 'File with the key, readable by you alone; - for standard input',
    },
    'api-key': {
      kind: 'text',
      value: 'KEY',
      summary: 'The key itself, with a warning: other users of this machine can see it meanwhile',
    },
    token: {
      kind: 'text',
      value: 'FILE',
      summary: 'File with a scoped token, instead of a key; - for standard input',
    },
    workspace: {
      kind: 'text',
      short: 'w',
      value: 'NAME',
      summary: 'Workspace to use when a command names none',
    },
    scoped: { kind: 'flag', summary: 'The key is a scoped token, not an owner key' },
  },
  examples: [
    {
      command:
        'cairn ctx add --name prod --server https://cairn.example.org --api-key-file prod.key',
      does: 'save the key of an owner',
    },
    {
      command:
        'cairn ctx add --name site --server http://127.0.0.1:7070 --api-key-file key -w website',
      does: 'with a workspace of its own',
    },
    {
      command: 'cairn ctx add --name agent --server http://127.0.0.1:7070 --token agent.token',
      does: 'save a token; the server says which workspace it is for',
    },
  ],
  async run({ options, cli }) {
    const { server } = options
    const apiKey = await readKeyOption(cli, options)
    const name = checkContextName(options.name ?? 'default')
    if (server === undefined || apiKey === undefined)
      throw usageError(
        'add the context',
        `--${server === undefined ? 'server' : 'api-key-file'} is missing`,
        'Give --server URL and --api-key-file FILE, or --token FILE.',
      )
    // Refuses what could never be used.
    const cairn = new Cairn({ server, apiKey })
    const workspace = options.workspace ?? (await askWorkspace(cairn))
    const kind = options.scoped || isToken(apiKey) ? 'fs_scoped' : 'owner'
    const context = {
      kind,
      server,
      apiKey,
      ...(workspace === undefined ? {} : { workspace }),
    } as const
    const config = withContext(await readConfig(cli), name, context)
    await writeConfig(cli, config)
    const isCurrent = config.currentContext === name
    if (cli.isJson) await cli.out.json({ name, kind, server, workspace, current: isCurrent })
    else {
      const isFound = options.workspace === undefined && workspace !== undefined
      const where = isFound ? ` for workspace ${workspace}` : ''
      await cli.out.line(`saved context ${name}${where}${isCurrent ? ', the current one' : ''}`)
    }
  },
})

/** A server that does not answer now is no reason to save nothing: then each command asks. */
async function askWorkspace(cairn: Cairn): Promise<string | undefined> {
  return findOwnWorkspace(cairn, { timeoutMs: askMs }).catch(() => undefined)
}
