import { type Command, defineCommand } from '../../arguments/command.ts'
import { layerOptions } from '../../context/credentials.ts'
import { parseTags } from '../../layers/format.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Begin a journal',
  description: 'Beginning the same again is no error. Prints its id.',
  arguments: {},
  options: {
    ...layerOptions,
    id: { kind: 'text', value: 'ID', summary: 'What it is called; made up unless given' },
    kind: { kind: 'text', short: 'k', value: 'KIND', summary: 'What it is of: deploy, test-run' },
    title: { kind: 'text', value: 'TEXT', summary: 'For people' },
    meta: { kind: 'list', short: 'm', value: 'K=V', summary: 'To be found by' },
  },
  examples: [
    { command: 'cairn journal new -id run-42 -title tests', does: 'to be appended to' },
    { command: 'cairn journal new --kind deploy --meta env=prod', does: 'with a made-up id' },
  ],
  async run({ options, cli }) {
    const { id, title, kind, meta } = options
    const { journals } = await openWorkspace(cli, options)
    const wish = { title, kind, meta: parseTags(meta), signal: cli.signal }
    const journal = await journals.create(id, wish)
    if (cli.isJson) return cli.out.json(journal)
    await cli.out.line(journal.journal)
  },
})
