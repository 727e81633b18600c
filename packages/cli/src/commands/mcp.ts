import { type Command, defineCommand } from '../arguments/command.ts'
import { findCredentials, workspaceOptions } from '../context/credentials.ts'
import { leanFetch } from '../remote/lean-fetch.ts'
import { connect } from '../remote/open.ts'
import { findOwnWorkspace } from '../remote/own-workspace.ts'
import { openShell } from '../sandbox/open-shell.ts'

export const command: Command = defineCommand({
  summary: 'Serve a workspace to an agent over MCP, on standard input and output',
  description:
    'An MCP client starts it, for example: claude mcp add cairn -- cairn mcp. It offers the tools that the\n' +
    'key or token allows. The log shows the id of the tool call with each change. Tools that remove something\n' +
    'ask the user, if the client supports that. With --sandbox it also offers a tool that runs commands in a\n' +
    'machine with the workspace mounted.',
  arguments: {},
  options: {
    ...workspaceOptions,
    layer: { kind: 'text', value: 'REF', summary: 'Work in this layer (default: main)' },
    sandbox: {
      kind: 'choice',
      choices: ['local', 'e2b'],
      summary: 'Offer commands, in a jail of this machine or at E2B',
    },
  },
  examples: [
    { command: 'cairn mcp --workspace default', does: 'the tools of a workspace' },
    { command: 'cairn mcp --layer fix-auth-a', does: 'all calls work in a layer' },
    { command: 'cairn mcp --layer fix-auth-a --sandbox local', does: 'with commands in a jail' },
  ],
  async run({ options, cli }) {
    const { grantOfKey } = await import('@cairn/agents')
    const { serveMcpStdio } = await import('@cairn/agents/mcp')
    const credentials = await findCredentials(cli, options)
    const grant = grantOfKey(credentials.apiKey)
    const named = options.workspace || credentials.workspace
    const workspace =
      named || (await findOwnWorkspace(connect(credentials), { signal: cli.signal }))
    const layer = options.layer ?? grant?.layer
    const { server, apiKey } = credentials
    const shell = await openShell(options.sandbox, {
      name: workspace,
      layer,
      server,
      token: apiKey,
    })
    const streams = {
      stdin: cli.stdin,
      stdout: process.stdout,
      signal: cli.signal,
      onerror: ({ message }: Error) => void cli.err.line(`warning: ${message}`).catch(() => {}),
    }
    try {
      const site = { server, apiKey, fetch: leanFetch, workspace, layer, grant, shell }
      await serveMcpStdio(site, streams)
    } finally {
      await shell?.dispose()
    }
  },
})
