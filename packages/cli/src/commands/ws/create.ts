import { type Command, defineCommand } from '../../arguments/command.ts'
import type { Cli } from '../../cli.ts'
import { getContext, readConfig, withContext, writeConfig } from '../../context/config.ts'
import { connectionOptions, findCredentials } from '../../context/credentials.ts'
import { connect } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Make a workspace',
  description: 'A context that has no workspace of its own yet uses the new one from now on.',
  arguments: { name: { summary: 'Letters, digits, dots, dashes and underscores' } },
  options: connectionOptions,
  examples: [{ command: 'cairn ws create website', does: 'then: cairn fs cp -r ./site :/' }],
  async run({ args: { name }, options, cli }) {
    const credentials = await findCredentials(cli, options)
    const workspace = await connect(credentials).workspaces.create(name, { signal: cli.signal })
    const isDefault = await becomeDefault(cli, credentials.context, name)
    if (cli.isJson) return cli.out.json({ ...workspace, default: isDefault })
    const note = isDefault ? `, which context ${credentials.context} uses from now on` : ''
    await cli.out.line(`made workspace ${workspace.name}${note}`)
  },
})

async function becomeDefault(
  cli: Cli,
  name: string | undefined,
  workspace: string,
): Promise<boolean> {
  if (name === undefined) return false
  const config = await readConfig(cli)
  const context = getContext(config, name)
  if (context.workspace !== undefined) return false
  await writeConfig(cli, withContext(config, name, { ...context, workspace }))
  return true
}
