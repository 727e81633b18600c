import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { openVault } from '../../vault/open-vault.ts'
import { showSecretPath } from '../../vault/secret-path.ts'

export const command: Command = defineCommand({
  summary: 'List grants, including those that have ended',
  arguments: {},
  options: workspaceOptions,
  examples: [{ command: 'cairn vault grants', does: 'who has access to what' }],
  async run({ options, cli }) {
    const vault = await openVault(cli, options)
    const rows = [['ID', 'AGENT', 'MAY', 'UNTIL', 'REVOKED', 'SECRETS']]
    for await (const grant of vault.grants({ signal: cli.signal })) {
      if (cli.isJson) await cli.out.json(grant)
      const { id, agent, permissions, expiresAt, revokedAt = '-', scopes } = grant
      const secrets = scopes.map(showSecretPath).join(' ')
      rows.push([id, agent, permissions.join(','), expiresAt, revokedAt, secrets])
    }
    if (cli.isJson) return
    await cli.out.table(rows)
  },
})
