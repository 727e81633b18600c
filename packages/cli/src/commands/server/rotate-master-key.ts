import { type Command, defineCommand } from '../../arguments/command.ts'
import { cliError } from '../../errors.ts'
import { connectionOptions, findCredentials } from '../../context/credentials.ts'
import { connect } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Take the next master key into use',
  description:
    'Asks the running server, which goes on answering. A key that it made itself gets a successor; where the keys come from\n' +
    '--master-key-file or --master-key-command, put the new one on top there first, on every server. Keys of workspaces are wrapped\n' +
    'anew; secrets themselves are not touched. Keep the old key in the list: tokens were made with it.',
  arguments: {},
  options: connectionOptions,
  examples: [{ command: 'cairn server rotate-master-key', does: 'without a pause' }],
  async run({ options, cli }) {
    const cairn = connect(await findCredentials(cli, options))
    const report = await cairn.rotateMasterKey({ signal: cli.signal })
    const { masterKey, rewrapped, left } = report
    if (cli.isJson) await cli.out.json(report)
    else await cli.out.line(`master key ${masterKey} is in use; wrapped ${rewrapped} keys anew`)
    if (left === 0) return
    const reason = `${left} keys are wrapped by a master key that the server does not have`
    const hint = 'Put that one into its list of master keys, then rotate again.'
    throw cliError('damaged_store', 'wrap every key anew', reason, hint)
  },
})
