import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { openWorkspace } from '../../remote/open.ts'
import { commandLine } from '../../output/shell-words.ts'

export const command: Command = defineCommand({
  summary: 'Abandon a layer',
  description:
    'Nothing is lost until the layer is deleted. To bring it back: cairn fs layer reopen.',
  arguments: { layer: { summary: 'Id, name or tag of a layer, or a checkpoint' } },
  options: workspaceOptions,
  examples: [{ command: 'cairn fs layer abandon fix-auth-b', does: 'no good' }],
  async run({ args: { layer }, options, cli }) {
    const { layers } = await openWorkspace(cli, options)
    const info = await layers.abandon(layer, { signal: cli.signal })
    if (cli.isJson) return cli.out.json(info)
    await cli.out.line(`abandoned ${layer}`)
    await cli.out.line(commandLine`bring it back: cairn fs layer reopen ${layer}`)
  },
})
