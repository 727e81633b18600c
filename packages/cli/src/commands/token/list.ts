import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { openWorkspace } from '../../remote/open.ts'
import { formatGrant } from '../../tokens/format.ts'

export const command: Command = defineCommand({
  summary: 'List the tokens of a workspace',
  arguments: {},
  options: {
    ...workspaceOptions,
    all: { kind: 'flag', summary: 'Also list expired and revoked tokens' },
  },
  examples: [
    { command: 'cairn token list', does: 'valid tokens' },
    { command: 'cairn token list --all --json', does: 'all, for a program' },
  ],
  async run({ options, cli }) {
    const workspace = await openWorkspace(cli, options)
    const rows = [['NAME', 'STATE', 'UNTIL', 'ID', 'ALLOWS']]
    for await (const token of workspace.tokens.list({ signal: cli.signal })) {
      if (!options.all && token.state !== 'live') continue
      if (cli.isJson) await cli.out.json(token)
      const { name, state, expiresAt, id } = token
      rows.push([name, state, cli.out.when(expiresAt), id, formatGrant(token)])
    }
    if (cli.isJson) return
    await cli.out.table(rows)
  },
})
