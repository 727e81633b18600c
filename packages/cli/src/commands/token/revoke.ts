import { isToken } from '@cairn/protocol'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { usageError } from '../../errors.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Revoke tokens',
  description:
    'Mounts that use them are refused within a second; changes that they had not sent stay on their disks. A\n' +
    'name means all tokens with this name. Tokens that were narrowed from a token end with it.',
  arguments: { token: { summary: 'Names or ids of tokens', many: true } },
  options: workspaceOptions,
  examples: [{ command: 'cairn token revoke agent-17', does: 'by name' }],
  async run({ args, options, cli }) {
    for (const token of args.token)
      if (isToken(token))
        throw usageError(
          'revoke a token by its secret',
          'arguments are seen in the list of processes',
          'Give its name or id; see: cairn token list.',
        )
    const { tokens } = await openWorkspace(cli, options)
    for (const token of args.token) {
      const revoked = await tokens.revoke(token, { signal: cli.signal })
      if (cli.isJson) await cli.out.json({ token, revoked })
      else await cli.out.line(`revoked ${token} (${revoked.join(', ')})`)
    }
  },
})
