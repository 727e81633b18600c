import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'List the checkpoints of a layer, or delete one',
  description: 'Oldest first.',
  arguments: { layer: { summary: 'Id, name or tag of a layer, or a checkpoint' } },
  options: {
    ...workspaceOptions,
    delete: { kind: 'text', value: 'CHECKPOINT', summary: 'Delete this checkpoint; files stay' },
  },
  examples: [
    { command: 'cairn fs layer checkpoints fix-auth-a', does: 'all of them' },
    { command: 'cairn fs layer checkpoints fix-auth-a --delete tests-pass', does: 'delete one' },
  ],
  async run({ args: { layer }, options, cli }) {
    const { layers } = await openWorkspace(cli, options)
    const { signal } = cli
    const { delete: unwanted } = options
    if (unwanted !== undefined) {
      await layers.deleteCheckpoint(layer, unwanted, { signal })
      if (cli.isJson) return cli.out.json({ layer, checkpoint: unwanted, deleted: true })
      return cli.out.line(`forgot checkpoint ${unwanted} of ${layer}`)
    }
    const rows = [['LABEL', 'MADE', 'SEQ', 'TOOL CALL', 'ID']]
    for await (const checkpoint of layers.checkpoints(layer, { signal })) {
      if (cli.isJson) await cli.out.json(checkpoint)
      const { id, label, seq, toolCall = '-', createdAt } = checkpoint
      const made = cli.out.when(createdAt)
      rows.push([label || '-', made, String(seq), toolCall, id])
    }
    if (!cli.isJson) await cli.out.table(rows)
  },
})
