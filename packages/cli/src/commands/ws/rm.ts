import { type Command, defineCommand } from '../../arguments/command.ts'
import { connectionOptions, findCredentials } from '../../context/credentials.ts'
import { confirm, yesOption } from '../../output/confirm.ts'
import { connect } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Remove a workspace with all its files and history',
  arguments: { name: { summary: 'The workspace' } },
  options: { ...connectionOptions, yes: yesOption },
  examples: [{ command: 'cairn ws rm website --yes', does: 'without asking' }],
  async run({ args: { name }, options, cli }) {
    const cairn = connect(await findCredentials(cli, options))
    await confirm(cli, options.yes, `remove the workspace ${name} with all its files`)
    await cairn.workspaces.delete(name, { signal: cli.signal })
    if (cli.isJson) await cli.out.json({ name, removed: true })
    else await cli.out.line(`removed workspace ${name}`)
  },
})
