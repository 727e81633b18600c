import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Seal a journal: no entry can follow',
  description:
    'The seal is a signed entry, so removing entries from the end of a sealed journal is detected.',
  arguments: { journal: { summary: 'The id' } },
  options: {
    ...workspaceOptions,
    reason: { kind: 'text', value: 'TEXT', summary: 'The reason, stored in the seal' },
  },
  examples: [{ command: 'cairn journal seal run-42 --reason done', does: 'no entry can follow' }],
  async run({ args: { journal }, options, cli }) {
    const { journals } = await openWorkspace(cli, options)
    const receipt = await journals.seal(journal, { reason: options.reason, signal: cli.signal })
    if (cli.isJson) return cli.out.json(receipt)
    await cli.out.line(`sealed ${journal} at ${receipt.last} ${receipt.hash}`)
  },
})
