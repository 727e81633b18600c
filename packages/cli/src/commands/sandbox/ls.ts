import { type Command, defineCommand } from '../../arguments/command.ts'
import { asking, openSandboxes, sandboxOptions } from '../../sandbox/open.ts'

export const command: Command = defineCommand({
  summary: 'List sandboxes',
  arguments: {},
  options: sandboxOptions,
  examples: [
    { command: 'cairn sandbox ls', does: 'those of the local server, or of E2B_API_KEY' },
    { command: 'cairn sandbox ls --json', does: 'one a line, with what is said about them' },
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
