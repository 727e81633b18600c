import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { parseTags } from '../../layers/format.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Create a journal',
  description: 'Prints the id. Creating the same journal again is not an error.',
  arguments: {},
  options: {
    ...workspaceOptions,
    id: { kind: 'text', value: 'ID', summary: 'The id (default: a new one)' },
    kind: { kind: 'text', short: 'k', value: 'KIND', summary: 'Kind of journal: deploy, test-run' },
    title: { kind: 'text', value: 'TEXT', summary: 'Title' },
    meta: { kind: 'list', short: 'm', value: 'K=V', summary: 'Metadata to find it by' },
  },
  examples: [
    { command: 'cairn journal new -id run-42 -title tests', does: 'then append entries to it' },
    { command: 'cairn journal new --kind deploy --meta env=prod', does: 'with a generated id' },
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
