import { type Command, defineCommand } from '../../arguments/command.ts'
import { connectionOptions, findCredentials } from '../../context/credentials.ts'
import { issueTo, outOption } from '../../keys/show-secret.ts'
import { connect } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Add an owner key',
  description:
    'An owner key allows everything. Its name appears in logs, audits and receipts, and no other key ever\n' +
    'gets it. The secret is shown once.',
  arguments: {
    name: { summary: 'Name of the person or program that has it: letters, digits, ., @ and -' },
  },
  options: { ...connectionOptions, ...outOption },
  examples: [
    { command: 'cairn key add alice --out alice.key', does: 'into a file that only you can read' },
    { command: 'cairn key add ci', does: 'print it' },
  ],
  async run({ args, options, cli }) {
    const { keys } = connect(await findCredentials(cli, options))
    await issueTo(cli, options.out, () => keys.add(args.name, { signal: cli.signal }))
    if (cli.isJson) return
    const where = options.out === undefined ? '' : `; its secret is in ${options.out}`
    await cli.err.line(`added key ${args.name}${where}`)
  },
})
