import { type Command, defineCommand } from '../../arguments/command.ts'
import { connectionOptions, findCredentials } from '../../context/credentials.ts'
import { findNaming } from '../../context/naming.ts'
import { confirm, yesOption } from '../../output/confirm.ts'
import { commandLine } from '../../output/shell-words.ts'
import { connect } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Remove a workspace with all its files and history',
  description: 'You can restore it for a week with: cairn ws restore NAME.',
  arguments: { name: { summary: 'The workspace' } },
  options: { ...connectionOptions, yes: yesOption },
  examples: [{ command: 'cairn ws rm website --yes', does: 'without asking' }],
  async run({ args: { name }, options, cli }) {
    const credentials = await findCredentials(cli, options)
    const cairn = connect(credentials)
    await confirm(cli, options.yes, `remove the workspace ${name} with all its files`)
    const deletion = await cairn.workspaces.delete(name, { signal: cli.signal })
    const contexts = await findNaming(cli, credentials.server, name)
    if (cli.isJson) return cli.out.json({ ...deletion, removed: true, contexts })
    const { id, expiresAt, forks } = deletion
    await cli.out.line(`removed workspace ${deletion.name}`)
    await cli.out.line(`until ${expiresAt} you can bring it back: cairn ws restore ${id}`)
    if (forks.length > 0) await cli.out.line(`its forks stay as they are: ${forks.join(', ')}`)
    for (const context of contexts)
      await cli.out.line(
        commandLine`context ${context} still names it: cairn ctx use ${context} --workspace NAME, or cairn ctx rm ${context}`,
      )
  },
})
