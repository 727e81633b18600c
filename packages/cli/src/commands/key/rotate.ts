import { type Command, defineCommand } from '../../arguments/command.ts'
import { connectionOptions, findCredentials } from '../../context/credentials.ts'
import { issueTo, outOption } from '../../keys/show-secret.ts'
import { parseTimeout } from '../../mount/duration.ts'
import { connect } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Give an owner key a new secret',
  description:
    'The name stays. The old secret ends at once, with its sessions and downloads, or after --grace. Update\n' +
    "contexts that use it: cairn ctx add. The server's file owner-key keeps the old secret, which then opens\n" +
    'nothing; cairn up uses the key of the saved context.',
  arguments: { name: { summary: 'The name' } },
  options: {
    ...connectionOptions,
    grace: {
      kind: 'text',
      value: 'D',
      summary: 'How long the old secret still works: 10m, 1h; at most 30d',
    },
    ...outOption,
  },
  examples: [
    { command: 'cairn key rotate alice --out alice.key', does: 'the old secret ends now' },
    { command: 'cairn key rotate ci --grace 1h', does: 'time to change it everywhere' },
  ],
  async run({ args, options, cli }) {
    const graceMs = parseTimeout(options.grace, '--grace')
    const { keys } = connect(await findCredentials(cli, options))
    const { graceUntil } = await issueTo(cli, options.out, () =>
      keys.rotate(args.name, { graceMs, signal: cli.signal }),
    )
    if (cli.isJson) return
    const old = graceUntil === undefined ? 'has ended' : `works until ${graceUntil}`
    await cli.err.line(`rotated key ${args.name}; the secret from before ${old}`)
  },
})
