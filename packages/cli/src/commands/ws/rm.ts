import { type Command, defineCommand } from '../../arguments/command.ts'
import type { Cli } from '../../cli.ts'
import { readConfig } from '../../context/config.ts'
import { connectionOptions, findCredentials } from '../../context/credentials.ts'
import { confirm, yesOption } from '../../output/confirm.ts'
import { commandLine } from '../../output/shell-words.ts'
import { connect } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Remove a workspace with all its files and history',
  arguments: { name: { summary: 'The workspace' } },
  options: { ...connectionOptions, yes: yesOption },
  examples: [{ command: 'cairn ws rm website --yes', does: 'without asking' }],
  async run({ args: { name }, options, cli }) {
    const credentials = await findCredentials(cli, options)
    const cairn = connect(credentials)
    await confirm(cli, options.yes, `remove the workspace ${name} with all its files`)
    await cairn.workspaces.delete(name, { signal: cli.signal })
    const contexts = await findContexts(cli, credentials.server, name)
    if (cli.isJson) return cli.out.json({ name, removed: true, contexts })
    await cli.out.line(`removed workspace ${name}`)
    for (const context of contexts)
      await cli.out.line(
        commandLine`context ${context} still names it: cairn ctx use ${context} --workspace NAME, or cairn ctx rm ${context}`,
      )
  },
})

/** Those that mean the workspace when none is named. */
async function findContexts(cli: Cli, server: string, workspace: string): Promise<string[]> {
  const { contexts } = await readConfig(cli)
  return [...contexts].flatMap(([name, context]) =>
    context.server === server && context.workspace === workspace ? [name] : [],
  )
}
