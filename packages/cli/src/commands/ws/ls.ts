import { type Command, defineCommand } from '../../arguments/command.ts'
import { connectionOptions, findCredentials } from '../../context/credentials.ts'
import { formatQuota } from '../../layers/quota.ts'
import { formatTable } from '../../output/format.ts'
import { connect } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'List workspaces',
  arguments: {},
  options: {
    ...connectionOptions,
    long: { kind: 'flag', short: 'l', summary: 'Also when they were made, their ids and quotas' },
  },
  examples: [
    { command: 'cairn ws ls', does: 'their names' },
    { command: 'cairn ws ls -l', does: 'with times, ids and quotas' },
  ],
  async run({ options, cli }) {
    const cairn = connect(await findCredentials(cli, options))
    const rows: string[][] = []
    for await (const workspace of cairn.workspaces.list({ signal: cli.signal })) {
      const { id, name, createdAt, quota } = workspace
      if (cli.isJson) await cli.out.json(workspace)
      else if (options.long)
        rows.push([createdAt, id, name, quota ? formatQuota(quota, undefined) : ''])
      else await cli.out.line(name)
    }
    for (const line of formatTable(rows)) await cli.out.line(line)
  },
})
