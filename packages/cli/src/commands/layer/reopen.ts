import { type Command, defineCommand } from '../../arguments/command.ts'
import { layerOptions } from '../../context/credentials.ts'
import { openWorkspace } from '../../remote/open.ts'
import { commandLine } from '../../output/shell-words.ts'

export const command: Command = defineCommand({
  summary: 'Bring an abandoned layer back',
  description: 'What was committed stays committed: for more, make a new layer.',
  arguments: { layer: { summary: 'Its id, name, tag or a checkpoint' } },
  options: layerOptions,
  examples: [{ command: 'cairn fs layer reopen fix-auth-b', does: 'go on with it' }],
  async run({ args: { layer }, options, cli }) {
    const { layers } = await openWorkspace(cli, options)
    const info = await layers.reopen(layer, { signal: cli.signal })
    if (cli.isJson) return cli.out.json(info)
    await cli.out.line(`reopened ${layer}`)
    await cli.out.line(commandLine`next: cairn fs layer status ${layer}`)
  },
})
