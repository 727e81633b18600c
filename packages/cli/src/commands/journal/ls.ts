import { type Command, defineCommand } from '../../arguments/command.ts'
import { layerOptions } from '../../context/credentials.ts'
import { formatTable } from '../../output/format.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'List journals',
  arguments: {},
  options: layerOptions,
  examples: [{ command: 'cairn journal ls', does: 'with how many entries each has' }],
  async run({ options, cli }) {
    const { journals } = await openWorkspace(cli, options)
    const rows = [['ID', 'KIND', 'ENTRIES', 'NEWEST', 'STATE', 'TITLE']]
    for await (const each of journals.list({ signal: cli.signal })) {
      if (cli.isJson) await cli.out.json(each)
      const { journal, kind, head, title } = each
      const state = head.sealed ? 'sealed' : 'open'
      rows.push([journal, kind || '-', String(head.seq), head.time.slice(0, 19), state, title])
    }
    if (cli.isJson) return
    for (const line of formatTable(rows, [2])) await cli.out.line(line.trimEnd())
  },
})
