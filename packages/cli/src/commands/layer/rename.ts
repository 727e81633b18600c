import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Give a layer another name',
  description: 'The id stays the same, and mounts continue to work.',
  arguments: {
    layer: { summary: 'Id, name or tag of a layer, or a checkpoint' },
    name: { summary: 'The new name' },
  },
  options: workspaceOptions,
  examples: [{ command: 'cairn fs layer rename fix-auth-a fix-auth', does: 'a better name' }],
  async run({ args: { layer, name }, options, cli }) {
    const { layers } = await openWorkspace(cli, options)
    const info = await layers.update(layer, { name, signal: cli.signal })
    if (cli.isJson) return cli.out.json(info)
    await cli.out.line(`${layer} is ${name} now`)
  },
})
