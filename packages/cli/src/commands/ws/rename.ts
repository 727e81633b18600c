import { type Command, defineCommand } from '../../arguments/command.ts'
import { findNaming, renameIn } from '../../context/naming.ts'
import { connectionOptions, findCredentials } from '../../context/credentials.ts'
import { connect } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Rename a workspace',
  description:
    'Mounts and tokens continue to work. Your contexts that name it are updated; on other machines, update\n' +
    'them with: cairn ctx use NAME --workspace NEW.',
  arguments: {
    name: { summary: 'The workspace' },
    new: { summary: 'Letters, digits, dots, dashes and underscores' },
  },
  options: connectionOptions,
  examples: [{ command: 'cairn ws rename website shop', does: 'rename it to shop' }],
  async run({ args: { name, new: to }, options, cli }) {
    const credentials = await findCredentials(cli, options)
    const { workspaces } = connect(credentials)
    const workspace = await workspaces.rename(name, to, { signal: cli.signal })
    const contexts = await findNaming(cli, credentials.server, name)
    await renameIn(cli, contexts, to)
    if (cli.isJson) return cli.out.json({ ...workspace, contexts })
    await cli.out.line(`renamed workspace ${name} to ${workspace.name}`)
    if (contexts.length > 0)
      await cli.out.line(`changed with it: ${contexts.map((each) => `context ${each}`).join(', ')}`)
  },
})
