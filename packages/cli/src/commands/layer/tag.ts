import { type Command, defineCommand } from '../../arguments/command.ts'
import { layerOptions } from '../../context/credentials.ts'
import { formatTags, parseTags } from '../../layers/format.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Set tags of a layer, or take them away',
  arguments: {
    layer: { summary: 'Its id, name, tag or a checkpoint' },
    tag: { summary: 'KEY=VALUE', optional: true, many: true },
  },
  options: {
    ...layerOptions,
    remove: { kind: 'list', value: 'KEY', summary: 'Take this one away' },
  },
  examples: [
    { command: 'cairn fs layer tag fix-auth-a verdict=good tests=42', does: 'set two' },
    { command: 'cairn fs layer tag fix-auth-a --remove draft', does: 'take one away' },
  ],
  async run({ args: { layer, tag }, options, cli }) {
    const { layers } = await openWorkspace(cli, options)
    const removed = Object.fromEntries(options.remove.map((key) => [key, null]))
    const tags = { ...parseTags(tag), ...removed }
    const info = await layers.update(layer, { tags, signal: cli.signal })
    if (cli.isJson) return cli.out.json(info)
    await cli.out.line(`tags of ${layer}: ${formatTags(info.tags) || 'none'}`)
  },
})
