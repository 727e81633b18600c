import { type Command, defineCommand } from '../../arguments/command.ts'
import { connectionOptions, findCredentials } from '../../context/credentials.ts'
import { connect } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'List owner keys',
  arguments: {},
  options: {
    ...connectionOptions,
    all: { kind: 'flag', summary: 'Also list removed keys' },
  },
  examples: [
    { command: 'cairn key ls', does: 'keys that work' },
    { command: 'cairn key ls --all --json', does: 'all, for a program' },
  ],
  async run({ options, cli }) {
    const { keys } = connect(await findCredentials(cli, options))
    const rows = [['NAME', 'STATE', 'ADDED', 'ROTATED', 'GRACE UNTIL']]
    for (const key of await keys.list({ signal: cli.signal })) {
      if (!options.all && key.state !== 'live') continue
      if (cli.isJson) await cli.out.json(key)
      const { name, state, createdAt, rotatedAt, graceUntil } = key
      const times = [createdAt, rotatedAt, graceUntil]
      rows.push([
        name,
        state,
        ...times.map((time) => (time === undefined ? '-' : cli.out.when(time))),
      ])
    }
    if (cli.isJson) return
    await cli.out.table(rows)
  },
})
