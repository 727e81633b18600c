import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { formatTags, parseTags } from '../../layers/format.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Set or remove tags of a layer',
  arguments: {
    layer: { summary: 'Id, name or tag of a layer, or a checkpoint' },
    tag: { summary: 'KEY=VALUE', optional: true, many: true },
  },
  options: {
    ...workspaceOptions,
    remove: { kind: 'list', value: 'KEY', summary: 'Remove this tag' },
  },
  examples: [
    { command: 'cairn fs layer tag fix-auth-a verdict=good tests=42', does: 'set two tags' },
    { command: 'cairn fs layer tag fix-auth-a --remove draft', does: 'remove a tag' },
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
