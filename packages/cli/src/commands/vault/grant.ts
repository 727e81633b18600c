import type { VaultPermission } from '@cairn/sdk'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { usageError } from '../../errors.ts'
import { parseTimeout } from '../../mount/duration.ts'
import { openVault } from '../../vault/open-vault.ts'
import { parseSecretPath, showSecretPath } from '../../vault/secret-path.ts'

export const command: Command = defineCommand({
  summary: 'Give an agent access to secrets for a limited time',
  description:
    'Prints a token once. Set it as CAIRN_VAULT_TOKEN, together with CAIRN_SERVER and CAIRN_WORKSPACE: it\n' +
    'gives access to these secrets and nothing else. A name that ends with a star means all names that begin\n' +
    'so.',
  arguments: { secret: { summary: 'SECRET or SECRET/FIELD, any number', many: true } },
  options: {
    ...workspaceOptions,
    agent: { kind: 'text', value: 'NAME', summary: 'Name of the agent, shown in the audit' },
    perm: {
      kind: 'choice',
      choices: ['read', 'write', 'read,write'],
      summary: 'What the grant allows (default: read); write alone does not allow reading',
    },
    ttl: { kind: 'text', value: 'D', summary: 'Lifetime: 30m, 1h' },
    'token-only': { kind: 'flag', summary: 'Print only the token' },
  },
  examples: [
    {
      command: 'cairn vault grant prod-db/DB_URL --agent alice --perm read --ttl 1h',
      does: 'one field, for an hour',
    },
    {
      command: 'cairn vault grant /n/vault/ci-* --agent ci --ttl 10m --token-only',
      does: 'for a script',
    },
  ],
  async run({ args, options, cli }) {
    const { agent, perm = 'read' } = options
    const ttlMs = parseTimeout(options.ttl, '--ttl')
    if (agent === undefined || ttlMs === undefined)
      throw usageError(
        'make a grant',
        '--agent or --ttl is missing',
        'Say for whom, and for how long.',
      )
    const vault = await openVault(cli, options)
    const permissions = perm.split(',') as VaultPermission[]
    const grant = await vault.grant(args.secret.map(parseSecretPath), {
      agent,
      permissions,
      ttlMs,
      signal: cli.signal,
    })
    if (cli.isJson) return cli.out.json(grant)
    if (options['token-only']) return cli.out.line(grant.token)
    const what = grant.scopes.map(showSecretPath).join(', ')
    await cli.out.line(`${agent} may ${perm} ${what} until ${grant.expiresAt} (${grant.id})`)
    if (grant.unmatched.length > 0)
      await cli.err.line(`note: nothing matches ${grant.unmatched.join(', ')} yet`)
    await cli.out.line(`token, shown once: ${grant.token}`)
  },
})
