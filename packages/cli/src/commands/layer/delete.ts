import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Delete layers',
  description:
    'What was committed stays in the parent. If you may need a layer again, abandon it instead.',
  arguments: { layer: { summary: 'Ids, names or tags of layers', many: true } },
  options: {
    ...workspaceOptions,
    cascade: { kind: 'flag', summary: 'Also delete the layers that were made from them' },
  },
  examples: [
    { command: 'cairn fs layer delete fix-auth-b', does: 'one layer' },
    { command: 'cairn fs layer delete plan --cascade', does: 'with the layers made from it' },
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
