import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { usageError } from '../../errors.ts'
import { parseQuota, quotaOptions, withoutNone } from '../../layers/quota.ts'
import { parseTimeout } from '../../mount/duration.ts'
import { openWorkspace } from '../../remote/open.ts'
import { sayGrant } from '../../tokens/format.ts'
import { grantOptions, parseAllow } from '../../tokens/options.ts'

export const command: Command = defineCommand({
  summary: 'Issue a token for certain paths and operations, for a limited time',
  description:
    "Paths outside the token's scope look absent: in listings, counts, events and errors. The secret is\n" +
    'printed once and not stored. Use it wherever a command takes a key.',
  arguments: { name: { summary: 'A name, to find and revoke the token by' } },
  options: {
    ...workspaceOptions,
    ttl: { kind: 'text', value: 'D', summary: 'Lifetime: 30m, 1h, 7d' },
    ...grantOptions,
    ...quotaOptions,
    layer: { kind: 'text', value: 'REF', summary: 'Only inside this layer' },
    'token-only': { kind: 'flag', summary: 'Print only the secret' },
  },
  examples: [
    {
      command:
        'cairn token issue agent-17 --ttl 1h --allow /repo/src:read,list,search,write --allow /repo/tests:read,list,search',
      does: 'change src, read tests',
    },
    {
      command:
        'cairn token issue try-a --ttl 2h --allow /repo:read,list,write,delete --layer try-a',
      does: 'inside one layer, without the right to commit it',
    },
    {
      command:
        'export CAIRN_API_KEY=$(cairn token issue ci --ttl 10m --allow /:read,list --token-only)',
      does: 'for the programs of this shell',
    },
  ],
  async run({ args, options, cli }) {
    const ttlMs = parseTimeout(options.ttl, '--ttl')
    if (ttlMs === undefined || options.allow.length === 0)
      throw usageError(
        `issue the token ${args.name}`,
        `--${ttlMs === undefined ? 'ttl' : 'allow'} is missing`,
        'Give --ttl 1h --allow /repo:read,list.',
      )
    const { layer, ...where } = options
    const workspace = await openWorkspace(cli, where)
    const token = await workspace.tokens.issue(args.name, {
      ttlMs,
      allow: parseAllow(options.allow),
      deny: options.deny,
      layer,
      ...withoutNone(parseQuota(options)),
      signal: cli.signal,
    })
    if (options['token-only']) return cli.out.line(token.secret)
    if (cli.isJson) return cli.out.json(token)
    await cli.out.line(token.secret)
    await cli.err.line(`issued token ${token.name} (${token.id}), good until ${token.expiresAt}`)
    await cli.err.line(sayGrant(token))
    await cli.err.line(`next: cairn ctx add --name ${token.name} --server URL --token FILE`)
  },
})
