import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { openVault } from '../../vault/open-vault.ts'

export const command: Command = defineCommand({
  summary: 'Revoke a grant',
  arguments: { grant: { summary: 'The id; see: cairn vault grants' } },
  options: workspaceOptions,
  examples: [{ command: 'cairn vault revoke grant_1f0c', does: 'its token no longer works' }],
  async run({ args, options, cli }) {
    const vault = await openVault(cli, options)
    const grant = await vault.revoke(args.grant, { signal: cli.signal })
    if (cli.isJson) return cli.out.json(grant)
    await cli.out.line(`the grant of ${grant.agent} is over`)
  },
})
