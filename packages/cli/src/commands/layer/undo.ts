import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { countPaths } from '../../layers/format.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Undo a rollback',
  description:
    'If something was written since the rollback, the command names the checkpoint to roll back to instead.',
  arguments: { layer: { summary: 'Id, name or tag of a layer, or a checkpoint' } },
  options: workspaceOptions,
  examples: [{ command: 'cairn fs layer undo fix-auth-a', does: 'as before the rollback' }],
  async run({ args: { layer }, options, cli }) {
    const { layers } = await openWorkspace(cli, options)
    const receipt = await layers.undo(layer, { signal: cli.signal })
    if (cli.isJson) return cli.out.json(receipt)
    await cli.out.line(
      `took the rollback of ${layer} back: ${countPaths(receipt.paths.length)} changed`,
    )
  },
})
