import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { formatQuiet } from '../../layers/format.ts'
import { parseTimeout } from '../../mount/duration.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Turn automatic checkpoints of a layer on or off',
  description:
    'The server makes a checkpoint when the layer has not changed for this long, and thins out old ones.\n' +
    'Existing checkpoints stay. Without QUIET, the command prints the setting.',
  arguments: {
    layer: { summary: 'Id, name or tag of a layer, or a checkpoint' },
    quiet: {
      summary: 'Time without a change: 500ms, 30s, 5m, at most 1d; none turns it off',
      optional: true,
    },
  },
  options: workspaceOptions,
  examples: [
    { command: 'cairn fs layer auto-checkpoint fix-auth-a 30s', does: 'from now on' },
    { command: 'cairn fs layer auto-checkpoint fix-auth-a none', does: 'off' },
  ],
  async run({ args: { layer, quiet }, options, cli }) {
    const { layers } = await openWorkspace(cli, options)
    const { signal } = cli
    const wanted = quiet === 'none' ? null : parseTimeout(quiet, 'QUIET')
    if (wanted !== undefined) await layers.update(layer, { autoCheckpointMs: wanted, signal })
    const { id, autoCheckpointMs } = await layers.status(layer, { signal })
    if (cli.isJson) return cli.out.json({ id, autoCheckpointMs })
    await cli.out.line(`checkpoints of ${layer}: ${formatQuiet(autoCheckpointMs)}`)
  },
})
