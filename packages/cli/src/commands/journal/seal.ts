import { type Command, defineCommand } from '../../arguments/command.ts'
import { layerOptions } from '../../context/credentials.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'End a journal for good',
  description:
    'The seal is an entry like others, and signed: a sealed journal cannot be shortened without notice.',
  arguments: { journal: { summary: 'Its id' } },
  options: {
    ...layerOptions,
    reason: { kind: 'text', value: 'TEXT', summary: 'Why; stands in the seal' },
  },
  examples: [{ command: 'cairn journal seal run-42 --reason done', does: 'nothing may follow' }],
  async run({ args: { journal }, options, cli }) {
    const { journals } = await openWorkspace(cli, options)
    const receipt = await journals.seal(journal, { reason: options.reason, signal: cli.signal })
    if (cli.isJson) return cli.out.json(receipt)
    await cli.out.line(`sealed ${journal} at ${receipt.last} ${receipt.hash}`)
  },
})
