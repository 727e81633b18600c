import { type Command, defineCommand } from '../../arguments/command.ts'
import { connectionOptions, findCredentials } from '../../context/credentials.ts'
import { connect } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Bring a deleted workspace back',
  description:
    'With its files, history, layers, checkpoints, secrets and tokens. A deleted workspace stays for a week.\n' +
    'If several had the name, the one that was deleted last comes back; name others by their ids.',
  arguments: { name: { summary: 'The name it had, or its id' } },
  options: {
    ...connectionOptions,
    as: { kind: 'text', value: 'NAME', summary: 'The name it gets, where its own is taken' },
  },
  examples: [
    { command: 'cairn ws restore website', does: 'as it was; see cairn ws ls --deleted' },
    { command: 'cairn ws restore website --as website-2', does: 'where another has the name' },
  ],
  async run({ args: { name }, options, cli }) {
    const { workspaces } = connect(await findCredentials(cli, options))
    const workspace = await workspaces.restore(name, { as: options.as, signal: cli.signal })
    if (cli.isJson) return cli.out.json(workspace)
    const { files } = workspace.used!
    await cli.out.line(`restored workspace ${workspace.name}: ${files} files and directories`)
  },
})
