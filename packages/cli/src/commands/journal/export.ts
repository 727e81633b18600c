import { open } from 'node:fs/promises'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Export a journal, so that it can be verified offline',
  description:
    'Writes lines of canonical JSON: the header with the public key, every entry, and the signed head. If you\n' +
    'name a file, the command prints the public key.',
  arguments: {
    journal: { summary: 'The id' },
    file: { summary: 'The file (default: standard output)', optional: true },
  },
  options: workspaceOptions,
  examples: [
    { command: 'cairn journal export run-42 run-42.jsonl', does: 'for an auditor' },
    { command: 'cairn journal export run-42', does: 'into a pipe' },
  ],
  async run({ args: { journal, file }, options, cli }) {
    const { journals } = await openWorkspace(cli, options)
    const bytes = journals.export(journal, { signal: cli.signal })
    if (file === undefined) {
      for await (const each of bytes) await cli.out.bytes(each)
      return
    }
    const { publicKey } = await journals.get(journal, { signal: cli.signal })
    const handle = await open(file, 'w')
    try {
      for await (const each of bytes) await handle.write(each)
      await handle.sync()
    } finally {
      await handle.close()
    }
    if (cli.isJson) return cli.out.json({ journal, file, publicKey })
    await cli.out.line(
      `wrote ${file}; check it with: cairn journal verify ${file} --public-key ${publicKey}`,
    )
  },
})
