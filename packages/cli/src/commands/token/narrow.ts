import { narrowToken } from '@cairn/sdk'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { connectionOptions, findCredentials } from '../../context/credentials.ts'
import { parseQuota, quotaOptions, withoutNone } from '../../layers/quota.ts'
import { parseTimeout } from '../../mount/duration.ts'
import { grantOptions, parseAllow } from '../../tokens/options.ts'
import { readOwnToken, readSecret } from '../../tokens/own.ts'

export const command: Command = defineCommand({
  summary: 'Derive a weaker token from a token, without asking the server',
  description:
    'Narrows the token in use, or the one in a file. The new token allows what both allow, never more, and\n' +
    'ends with the original token at the latest.',
  arguments: {},
  options: {
    ...connectionOptions,
    'from-file': {
      kind: 'text',
      value: 'PATH',
      summary: 'File with the token; - for standard input',
    },
    ...grantOptions,
    ...quotaOptions,
    ttl: { kind: 'text', value: 'D', summary: 'Maximum lifetime: 10m, 1h' },
    layer: { kind: 'text', value: 'ID', summary: 'Only inside the layer with this id' },
  },
  examples: [
    {
      command: 'cairn token narrow --allow /repo/src:read,list --ttl 10m',
      does: 'from the token in use',
    },
    {
      command: 'pass show agent | cairn token narrow --from-file - --deny /repo/src/keys',
      does: 'from a token in a file',
    },
  ],
  async run({ options, cli }) {
    const path = options['from-file']
    const secret =
      path === undefined
        ? (await findCredentials(cli, options)).apiKey
        : await readSecret(cli, path)
    // Says in our words what is wrong with it.
    readOwnToken(secret)
    const narrowed = await narrowToken(secret, {
      ...(options.allow.length === 0 ? {} : { allow: parseAllow(options.allow) }),
      ...(options.deny.length === 0 ? {} : { deny: options.deny }),
      layer: options.layer,
      ttlMs: parseTimeout(options.ttl, '--ttl'),
      ...withoutNone(parseQuota(options)),
    })
    if (cli.isJson) return cli.out.json({ secret: narrowed, ...readOwnToken(narrowed) })
    await cli.out.line(narrowed)
  },
})
