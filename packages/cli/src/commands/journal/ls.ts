import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'List journals',
  arguments: {},
  options: workspaceOptions,
  examples: [{ command: 'cairn journal ls', does: 'with how many entries each has' }],
  async run({ options, cli }) {
    const { journals } = await openWorkspace(cli, options)
    const rows = [['ID', 'KIND', 'ENTRIES', 'NEWEST', 'STATE', 'TITLE']]
    for await (const each of journals.list({ signal: cli.signal })) {
      if (cli.isJson) await cli.out.json(each)
      const { journal, kind, head, title } = each
      const state = head.sealed ? 'sealed' : 'open'
      rows.push([journal, kind || '-', String(head.seq), cli.out.when(head.time), state, title])
    }
    if (cli.isJson) return
    await cli.out.table(rows, [2])
  },
})
