import { type Command, defineCommand } from '../../arguments/command.ts'
import { readConfig } from '../../context/config.ts'
import { connectionOptions, findCredentials } from '../../context/credentials.ts'
import { maskSecret, statusOf } from '../../context/show.ts'
import { formatTable } from '../../output/table.ts'

export const command: Command = defineCommand({
  summary: 'Show which server and key commands use, and where they come from',
  arguments: {},
  options: {
    ...connectionOptions,
    reveal: { kind: 'flag', summary: 'Print the whole key instead of masking it' },
  },
  examples: [
    { command: 'cairn ctx show', does: 'with the key masked' },
    { command: 'cairn ctx show --reveal --json', does: 'for a program that needs the key' },
  ],
  async run({ options, cli }) {
    const found = await findCredentials(cli, options)
    const { contexts } = await readConfig(cli)
    const saved = found.context === undefined ? undefined : contexts.get(found.context)
    const shown = {
      source: found.source,
      ...(found.context === undefined ? {} : { name: found.context }),
      ...(saved === undefined ? {} : { kind: saved.kind }),
      server: found.server,
      apiKey: options.reveal ? found.apiKey : maskSecret(found.apiKey),
      ...(found.workspace === undefined ? {} : { workspace: found.workspace }),
      ...(saved?.scope === undefined ? {} : { scope: saved.scope }),
      ...(saved?.expiresAt === undefined
        ? {}
        : { expiresAt: saved.expiresAt, status: statusOf(saved, new Date()) }),
    }
    if (cli.isJson) return cli.out.json(shown)
    const rows = Object.entries(shown).map(([name, value]) => [
      `${name}:`,
      Array.isArray(value) ? value.join(', ') : String(value),
    ])
    for (const line of formatTable(rows)) await cli.out.line(line)
  },
})
