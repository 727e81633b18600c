import { type Command, defineCommand } from '../../arguments/command.ts'
import { connectionOptions, findCredentials } from '../../context/credentials.ts'
import { connect } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Restore a deleted workspace',
  description:
    'Restores its files, history, layers, checkpoints, secrets and tokens. A deleted workspace is kept for a\n' +
    'week. If several had this name, the one that was deleted last is restored; name others by id.',
  arguments: { name: { summary: 'The old name, or the id' } },
  options: {
    ...connectionOptions,
    as: { kind: 'text', value: 'NAME', summary: 'New name, if the old one is taken' },
  },
  examples: [
    { command: 'cairn ws restore website', does: 'as it was; see cairn ws ls --deleted' },
    { command: 'cairn ws restore website --as website-2', does: 'if the name is taken' },
  ],
  async run({ args: { name }, options, cli }) {
    const { workspaces } = connect(await findCredentials(cli, options))
    const workspace = await workspaces.restore(name, { as: options.as, signal: cli.signal })
    if (cli.isJson) return cli.out.json(workspace)
    const { files } = workspace.used!
    await cli.out.line(`restored workspace ${workspace.name}: ${files} files and directories`)
  },
})
