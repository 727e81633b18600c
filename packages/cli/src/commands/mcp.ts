import { type Command, defineCommand } from '../arguments/command.ts'
import { findCredentials, layerOptions } from '../context/credentials.ts'
import { leanFetch } from '../remote/lean-fetch.ts'
import { connect } from '../remote/open.ts'
import { findOwnWorkspace } from '../remote/own-workspace.ts'

export const command: Command = defineCommand({
  summary: 'Serve a workspace to an agent over MCP, on standard input and output',
  description:
    'An MCP client starts it, for example: claude mcp add cairn -- cairn mcp. The tools are those that the key or token may\n' +
    'use; changes carry the id of the tool call in the log. Tools that remove something ask the user, where the client can.',
  arguments: {},
  options: {
    ...layerOptions,
    layer: { kind: 'text', value: 'REF', summary: 'Work in this layer; main unless given' },
  },
  examples: [
    { command: 'cairn mcp --workspace default', does: 'the tools of a workspace' },
    { command: 'cairn mcp --layer fix-auth-a', does: 'all calls work in an attempt' },
  ],
  async run({ options, cli }) {
    const { grantOfKey } = await import('@cairn/agents')
    const { serveMcpStdio } = await import('@cairn/agents/mcp')
    const credentials = await findCredentials(cli, options)
    const grant = grantOfKey(credentials.apiKey)
    const named = options.workspace || credentials.workspace
    const workspace =
      named || (await findOwnWorkspace(connect(credentials), { signal: cli.signal }))
    await serveMcpStdio(
      {
        server: credentials.server,
        apiKey: credentials.apiKey,
        fetch: leanFetch,
        workspace,
        layer: options.layer ?? grant?.layer,
        grant,
      },
      {
        stdin: cli.stdin,
        stdout: process.stdout,
        signal: cli.signal,
        onerror: ({ message }) => void cli.err.line(`warning: ${message}`).catch(() => {}),
      },
    )
  },
})
