import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { parseTimeout } from '../../mount/duration.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Extend a token: its lifetime starts again',
  description:
    'The secret stays the same, so mounts and programs continue to work. An expired token becomes valid\n' +
    'again; a revoked one does not.',
  arguments: { token: { summary: 'The name or id' } },
  options: {
    ...workspaceOptions,
    ttl: {
      kind: 'text',
      value: 'D',
      summary: 'New lifetime from now on (default: the original one)',
    },
  },
  examples: [
    { command: 'cairn token refresh agent-17 --ttl 2h', does: 'valid for two more hours' },
  ],
  async run({ args, options, cli }) {
    const { tokens } = await openWorkspace(cli, options)
    const ttlMs = parseTimeout(options.ttl, '--ttl')
    const token = await tokens.refresh(args.token, { ttlMs, signal: cli.signal })
    if (cli.isJson) return cli.out.json(token)
    await cli.out.line(`token ${token.name} (${token.id}) is good until ${token.expiresAt}`)
  },
})
