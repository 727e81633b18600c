import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { openVault } from '../../vault/open-vault.ts'

export const command: Command = defineCommand({
  summary: 'List secrets and their fields, without values',
  description: 'With the token of a grant, it lists what the grant allows.',
  arguments: {},
  options: workspaceOptions,
  examples: [{ command: 'cairn vault ls', does: 'all secrets' }],
  async run({ options, cli }) {
    const vault = await openVault(cli, options)
    const rows = [['NAME', 'VERSION', 'CHANGED', 'BY', 'FIELDS']]
    for await (const secret of vault.list({ signal: cli.signal })) {
      if (cli.isJson) await cli.out.json(secret)
      const { name, version, updatedAt, updatedBy, fields } = secret
      const changed = cli.out.when(updatedAt)
      rows.push([name, String(version), changed, updatedBy, fields.join(' ')])
    }
    if (cli.isJson) return
    await cli.out.table(rows, [1])
  },
})
