import { type Command, defineCommand } from '../../arguments/command.ts'
import { connectionOptions, findCredentials } from '../../context/credentials.ts'
import { connect } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Remove owner keys',
  description:
    'Sessions, mounts and downloads that use the keys end within a second. The log keeps their names. You\n' +
    'cannot remove the last key.',
  arguments: { name: { summary: 'Names of the keys', many: true } },
  options: connectionOptions,
  examples: [{ command: 'cairn key rm alice', does: 'alice has left' }],
  async run({ args, options, cli }) {
    const { keys } = connect(await findCredentials(cli, options))
    for (const name of args.name) {
      const key = await keys.remove(name, { signal: cli.signal })
      if (cli.isJson) await cli.out.json(key)
      else await cli.out.line(`removed key ${name}`)
    }
  },
})
