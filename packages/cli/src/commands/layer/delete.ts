import { type Command, defineCommand } from '../../arguments/command.ts'
import { layerOptions } from '../../context/credentials.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Take layers away',
  description: 'What was committed of them stays. To be able to come back, abandon them instead.',
  arguments: { layer: { summary: 'Ids, names, tags or checkpoints', many: true } },
  options: {
    ...layerOptions,
    cascade: { kind: 'flag', summary: 'Also the layers that were made from them' },
  },
  examples: [
    { command: 'cairn fs layer delete fix-auth-b', does: 'one' },
    { command: 'cairn fs layer delete plan --cascade', does: 'with its steps' },
  ],
  async run({ args, options: { cascade, ...options }, cli }) {
    const { layers } = await openWorkspace(cli, options)
    for (const layer of args.layer) {
      const deleted = await layers.delete(layer, { cascade, signal: cli.signal })
      if (cli.isJson) await cli.out.json({ layer, deleted })
      else await cli.out.line(`deleted ${[layer, ...deleted.slice(1)].join(', ')}`)
    }
  },
})
