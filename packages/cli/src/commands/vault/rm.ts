import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { openVault } from '../../vault/open-vault.ts'
import { parseSecretPath } from '../../vault/secret-path.ts'

export const command: Command = defineCommand({
  summary: 'Delete a secret with all its versions, or remove a field',
  arguments: { secret: { summary: 'SECRET or SECRET/FIELD' } },
  options: workspaceOptions,
  examples: [
    { command: 'cairn vault rm prod-db', does: 'delete the secret' },
    { command: 'cairn vault rm prod-db/OLD_URL', does: 'a new version without this field' },
  ],
  async run({ args, options, cli }) {
    const { secret, field } = parseSecretPath(args.secret)
    const vault = await openVault(cli, options)
    const { signal } = cli
    if (field === undefined) await vault.delete(secret, { signal })
    else await vault.set(secret, { [field]: null }, { signal })
  },
})
