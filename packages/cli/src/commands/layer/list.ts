import { layerStates } from '@cairn/protocol'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { formatTags, layerName } from '../../layers/format.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'List layers',
  description:
    'Oldest first. For committed and abandoned layers, it shows when they will be deleted.',
  arguments: {},
  options: {
    ...workspaceOptions,
    tag: { kind: 'text', value: 'K=V', summary: 'Only layers with this tag' },
    state: { kind: 'choice', choices: layerStates, summary: 'Only layers in this state' },
    parent: {
      kind: 'text',
      value: 'REF',
      summary: 'Only layers whose parent is this layer, or main',
    },
  },
  examples: [
    { command: 'cairn fs layer list', does: 'all of them' },
    { command: 'cairn fs layer list --tag agent=a --state open', does: 'filtered' },
  ],
  async run({ options, cli }) {
    const { tag, state, parent } = options
    const workspace = await openWorkspace(cli, options)
    const names = new Map<string, string>()
    const rows = [['NAME', 'STATE', 'PATH', 'PARENT', 'MADE', 'GOES', 'ID', 'TAGS']]
    for await (const layer of workspace.layers.list({ tag, state, parent, signal: cli.signal })) {
      if (cli.isJson) await cli.out.json(layer)
      const { id, name = '-', path, createdAt, expiresAt, tags } = layer
      names.set(id, layerName(layer))
      const [made, goes] = [createdAt, expiresAt].map((time) =>
        time === undefined ? '-' : cli.out.when(time),
      )
      rows.push([name, layer.state, path, layer.parent, made!, goes!, id, formatTags(tags)])
    }
    if (cli.isJson) return
    for (const row of rows) row[3] = names.get(row[3]!) ?? row[3]!
    await cli.out.table(rows)
  },
})
