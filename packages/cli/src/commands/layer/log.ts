import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { pagerOption } from '../../output/pager.ts'
import { openWorkspace } from '../../remote/open.ts'
import { linesOf } from '../fs/log.ts'

export const command: Command = defineCommand({
  summary: 'Show the log of a layer',
  description: 'Oldest first: every change, rollback, rebase and change of state.',
  arguments: { layer: { summary: 'Id, name or tag of a layer, or a checkpoint' } },
  options: {
    ...workspaceOptions,
    ...pagerOption,
    after: { kind: 'count', value: 'SEQ', summary: 'Only changes after this sequence number' },
  },
  examples: [{ command: 'cairn fs layer log fix-auth-a', does: 'who did what, and when' }],
  async run({ args: { layer }, options, cli }) {
    const workspace = await openWorkspace(cli, options)
    if (!options['no-pager']) await cli.out.page()
    const request = { after: options.after, signal: cli.signal }
    for await (const entry of workspace.layer(layer).log(request))
      if (cli.isJson) await cli.out.json(entry)
      else for (const line of linesOf(entry, cli.out)) await cli.out.line(line)
  },
})
