import { type Command, defineCommand } from '../../arguments/command.ts'
import { findCredentials, workspaceOptions } from '../../context/credentials.ts'
import { formatTable } from '../../output/table.ts'
import { openWorkspace } from '../../remote/open.ts'
import { describeToken, formatGrant } from '../../tokens/format.ts'
import { readOwnToken } from '../../tokens/own.ts'

export const command: Command = defineCommand({
  summary: 'Show what a token allows',
  description: 'Without a name, it decodes the token in use without asking the server.',
  arguments: { token: { summary: 'The name or id', optional: true } },
  options: workspaceOptions,
  examples: [
    { command: 'cairn token show agent-17', does: 'a token of the workspace, with an owner key' },
    { command: 'cairn token show', does: 'the token in use' },
  ],
  async run({ args, options, cli }) {
    if (args.token === undefined) {
      const token = readOwnToken((await findCredentials(cli, options)).apiKey)
      if (cli.isJson) return cli.out.json(token)
      const { id, allow, deny, ...rest } = token
      const rows = [
        ['id:', id],
        ['allows:', formatGrant({ allow, deny })],
        ...Object.entries(rest).map(([name, value]) => [`${name}:`, String(value)]),
      ]
      for (const line of formatTable(rows)) await cli.out.line(line)
      return
    }
    const workspace = await openWorkspace(cli, options)
    const token = await workspace.tokens.show(args.token, { signal: cli.signal })
    if (cli.isJson) return cli.out.json(token)
    for (const line of formatTable(describeToken(token))) await cli.out.line(line)
  },
})
