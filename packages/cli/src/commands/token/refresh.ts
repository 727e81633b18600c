import { type Command, defineCommand } from '../../arguments/command.ts'
import { layerOptions } from '../../context/credentials.ts'
import { parseTimeout } from '../../mount/duration.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Begin the time of a token anew',
  description:
    'Its secret stays, so mounts and programs under it go on. One that has expired lives again; one that was revoked never.',
  arguments: { token: { summary: 'Its name or id' } },
  options: {
    ...layerOptions,
    ttl: { kind: 'text', value: 'D', summary: 'From now on; as long as at first unless given' },
  },
  examples: [{ command: 'cairn token refresh agent-17 --ttl 2h', does: 'two hours more from now' }],
  async run({ args, options, cli }) {
    const { tokens } = await openWorkspace(cli, options)
    const ttlMs = parseTimeout(options.ttl, '--ttl')
    const token = await tokens.refresh(args.token, { ttlMs, signal: cli.signal })
    if (cli.isJson) return cli.out.json(token)
    await cli.out.line(`token ${token.name} (${token.id}) is good until ${token.expiresAt}`)
  },
})
