import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { printEntry } from '../../journal/show-entry.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Print the entries of a journal',
  description:
    'With -f, it prints new entries as they arrive, and ends when the journal is sealed.',
  arguments: { journal: { summary: 'The id' } },
  options: {
    ...workspaceOptions,
    after: { kind: 'count', value: 'SEQ', summary: 'Only entries after this number' },
    limit: { kind: 'count', short: 'n', value: 'N', summary: 'At most N (default: all)' },
    follow: { kind: 'flag', short: 'f', summary: 'Wait for new entries' },
  },
  examples: [
    { command: 'cairn journal cat run-42', does: 'all entries' },
    { command: 'cairn journal cat run-42 -f --json', does: 'as entries arrive, for a program' },
  ],
  async run({ args: { journal }, options, cli }) {
    const { after = 0, follow } = options
    const { journals } = await openWorkspace(cli, options)
    const { signal } = cli
    const entries = follow
      ? journals.follow(journal, { after, signal })
      : journals.read(journal, { after, signal })
    let left = options.limit ?? Infinity
    if (left === 0) return
    for await (const entry of entries) {
      await printEntry(cli, entry)
      if (follow) await cli.out.flush()
      if (--left === 0) return
    }
  },
})
