import { type Command, defineCommand } from '../../arguments/command.ts'
import { layerOptions } from '../../context/credentials.ts'
import { formatQuiet } from '../../layers/format.ts'
import { parseTimeout } from '../../mount/duration.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Have checkpoints made of a layer by themselves, or no more',
  description:
    'After so long a time without a change; they are thinned out as they get older. Those that are there stay. Without QUIET it\n' +
    'tells how it is.',
  arguments: {
    layer: { summary: 'Its id, name, tag or a checkpoint' },
    quiet: { summary: 'How long: 500ms, 30s, 5m, at most 1d; none for never', optional: true },
  },
  options: layerOptions,
  examples: [
    { command: 'cairn fs layer auto-checkpoint fix-auth-a 30s', does: 'from now on' },
    { command: 'cairn fs layer auto-checkpoint fix-auth-a none', does: 'no more' },
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
