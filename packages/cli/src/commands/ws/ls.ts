import { type Command, defineCommand } from '../../arguments/command.ts'
import { connectionOptions, findCredentials } from '../../context/credentials.ts'
import type { Cairn, DeletedWorkspace } from '@cairn/sdk'
import type { Cli } from '../../cli.ts'
import { formatQuota } from '../../layers/quota.ts'
import { connect } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'List workspaces',
  arguments: {},
  options: {
    ...connectionOptions,
    deleted: { kind: 'flag', summary: 'List removed workspaces that can be restored' },
    long: { kind: 'flag', short: 'l', summary: 'Also show creation times, ids and quotas' },
  },
  examples: [
    { command: 'cairn ws ls', does: 'their names' },
    { command: 'cairn ws ls -l', does: 'with times, ids and quotas' },
    { command: 'cairn ws ls --deleted', does: 'then: cairn ws restore NAME' },
  ],
  async run({ options, cli }) {
    const cairn = connect(await findCredentials(cli, options))
    if (options.deleted) return listDeleted(cli, cairn)
    const rows: string[][] = []
    for await (const workspace of cairn.workspaces.list({ signal: cli.signal })) {
      const { id, name, createdAt, quota } = workspace
      if (cli.isJson) await cli.out.json(workspace)
      else if (options.long)
        rows.push([
          cli.out.isTerminal ? cli.out.when(createdAt) : createdAt,
          id,
          name,
          quota ? formatQuota(quota, undefined) : '',
        ])
      else await cli.out.line(name)
    }
    await cli.out.table(rows)
  },
})

async function listDeleted(cli: Cli, cairn: Cairn): Promise<void> {
  const all: DeletedWorkspace[] = []
  for await (const each of cairn.workspaces.listDeleted({ signal: cli.signal })) all.push(each)
  all.sort((a, b) => (a.deletedAt < b.deletedAt ? 1 : -1))
  if (cli.isJson) {
    for (const each of all) await cli.out.json(each)
    return
  }
  const rows = all.map(({ name, id, deletedAt, expiresAt }) => [
    name,
    id,
    `removed ${cli.out.when(deletedAt)}`,
    `goes ${cli.out.when(expiresAt)}`,
  ])
  await cli.out.table(rows)
}
