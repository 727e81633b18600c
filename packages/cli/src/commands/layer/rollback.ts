import { type Command, defineCommand } from '../../arguments/command.ts'
import { layerOptions } from '../../context/credentials.ts'
import { countPaths } from '../../layers/format.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Put a layer back to a checkpoint, or to its base',
  description:
    'Live mounts see it at once. What came after stays in the log: cairn fs layer undo takes it back.',
  arguments: { layer: { summary: 'Its id, name, tag or a checkpoint' } },
  options: {
    ...layerOptions,
    to: {
      kind: 'text',
      value: 'CHECKPOINT',
      summary: 'Its id, label or tool call; the base unless given',
    },
  },
  examples: [
    { command: 'cairn fs layer rollback fix-auth-a --to tests-pass', does: 'to a checkpoint' },
    { command: 'cairn fs layer rollback fix-auth-a', does: 'drop everything' },
  ],
  async run({ args: { layer }, options, cli }) {
    const { layers } = await openWorkspace(cli, options)
    const receipt = await layers.rollback(layer, { to: options.to, signal: cli.signal })
    if (cli.isJson) return cli.out.json(receipt)
    const changed = countPaths(receipt.paths.length)
    await cli.out.line(`rolled ${layer} back to ${options.to ?? 'its base'}: ${changed} changed`)
    await cli.out.line(`take it back: cairn fs layer undo ${layer}`)
  },
})
