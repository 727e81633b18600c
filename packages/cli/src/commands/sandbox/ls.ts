import { type Command, defineCommand } from '../../arguments/command.ts'
import { asking, openSandboxes, sandboxOptions } from '../../sandbox/open.ts'

export const command: Command = defineCommand({
  summary: 'List sandboxes',
  arguments: {},
  options: sandboxOptions,
  examples: [
    {
      command: 'cairn sandbox ls',
      does: 'sandboxes of the local server, or at E2B if E2B_API_KEY is set',
    },
    { command: 'cairn sandbox ls --json', does: 'one per line, with metadata' },
  ],
  async run({ options, cli }) {
    const { Sandbox } = await openSandboxes(cli, options.data)
    const pages = Sandbox.list()
    const rows: string[][] = []
    while (pages.hasNext)
      for (const found of await asking('list sandboxes', () => pages.nextItems())) {
        const { sandboxId, state, templateId, startedAt, endAt, metadata } = found
        if (cli.isJson)
          await cli.out.json({ sandboxId, state, templateId, startedAt, endAt, metadata })
        else rows.push([sandboxId, state, found.name ?? templateId, `until ${endAt.toISOString()}`])
      }
    await cli.out.table(rows)
  },
})
