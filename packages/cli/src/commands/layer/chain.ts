import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { layerName } from '../../layers/format.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'List a layer and its parents',
  description:
    'The layer that is nearest to main comes first. A commit goes to the layer on the line before.',
  arguments: { layer: { summary: 'Id, name or tag of a layer, or a checkpoint' } },
  options: workspaceOptions,
  examples: [{ command: 'cairn fs layer chain plan-step-1', does: 'where its commit goes' }],
  async run({ args: { layer }, options, cli }) {
    const { layers } = await openWorkspace(cli, options)
    const chain = await layers.chain(layer, { signal: cli.signal })
    if (!cli.isJson) await cli.out.line('main')
    for (const [depth, info] of chain.entries())
      if (cli.isJson) await cli.out.json(info)
      else
        await cli.out.line(
          `${'  '.repeat(depth + 1)}${layerName(info)}  ${info.state}  ${info.path}`,
        )
  },
})
