import { type Command, defineCommand } from '../../arguments/command.ts'
import { cliError } from '../../errors.ts'
import { connectionOptions, findCredentials } from '../../context/credentials.ts'
import { connect } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Rotate the master key',
  description:
    'Asks the running server, without interrupting it. If the server made its master key, it makes a new one.\n' +
    'If the keys come from --master-key-file or --master-key-command, first put the new key at the top there,\n' +
    'on every server. The keys of workspaces are encrypted again; the secrets themselves do not change. Keep\n' +
    'the old key in the list, because existing tokens depend on it.',
  arguments: {},
  options: connectionOptions,
  examples: [{ command: 'cairn server rotate-master-key', does: 'without downtime' }],
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
