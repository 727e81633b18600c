import { type Command, defineCommand } from '../../arguments/command.ts'
import type { Cli } from '../../cli.ts'
import { getContext, readConfig, withContext, writeConfig } from '../../context/config.ts'
import {
  connectionOptions,
  type ApiCredentials,
  findCredentials,
} from '../../context/credentials.ts'
import { commandLine } from '../../output/shell-words.ts'
import { connect } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Create a workspace',
  description: 'If the current context has no workspace yet, it uses the new one from now on.',
  arguments: { name: { summary: 'Letters, digits, dots, dashes and underscores' } },
  options: connectionOptions,
  examples: [{ command: 'cairn ws create website', does: 'then: cairn fs cp -r ./site :/' }],
  async run({ args: { name }, options, cli }) {
    const credentials = await findCredentials(cli, options)
    const workspace = await connect(credentials).workspaces.create(name, { signal: cli.signal })
    const isDefault = await becomeDefault(cli, credentials.context, name)
    if (cli.isJson) return cli.out.json({ ...workspace, default: isDefault })
    await cli.out.line(`made workspace ${workspace.name}${noteOf(credentials, name, isDefault)}`)
  },
})

function noteOf({ context }: ApiCredentials, name: string, isDefault: boolean): string {
  if (context === undefined) return ''
  if (isDefault) return `, which context ${context} uses from now on`
  return commandLine`; use it with: cairn ctx use ${context} --workspace ${name}`
}

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
