import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { openVault } from '../../vault/open-vault.ts'
import { parseSecretName } from '../../vault/secret-path.ts'

export const command: Command = defineCommand({
  summary: 'List the versions of a secret, newest first',
  arguments: { secret: { summary: 'The name' } },
  options: workspaceOptions,
  examples: [{ command: 'cairn vault history prod-db', does: 'who wrote it, and when' }],
  async run({ args, options, cli }) {
    const vault = await openVault(cli, options)
    const versions = await vault.history(parseSecretName(args.secret), { signal: cli.signal })
    if (cli.isJson) {
      for (const version of versions) await cli.out.json(version)
      return
    }
    const rows = versions.map(({ version, createdAt, createdBy, fields }) => [
      String(version),
      cli.out.when(createdAt),
      createdBy,
      fields.join(' '),
    ])
    await cli.out.table([['VERSION', 'WRITTEN', 'BY', 'FIELDS'], ...rows], [0])
  },
})
