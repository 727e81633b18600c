import { type Command, defineCommand } from '../../arguments/command.ts'
import { connectionOptions, findCredentials } from '../../context/credentials.ts'
import { connect } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Remove owner keys',
  description:
    'Sessions, mounts and downloads under them end within a second. What they did stays under their names. The last key\n' +
    'cannot be removed.',
  arguments: { name: { summary: 'Names', many: true } },
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
