import { shellQuote } from '@cairn/protocol'
import type { Secret } from '@cairn/sdk'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { openVault } from '../../vault/open-vault.ts'
import { parseSecretPath } from '../../vault/secret-path.ts'
import { addVariable } from '../../vault/variables.ts'

export const command: Command = defineCommand({
  summary: 'Print a secret, or one field of it',
  description:
    'A single field is printed byte for byte, several fields as FIELD=VALUE. With --json, a value that is not\n' +
    'UTF-8 is in "base64". With --env, fields whose names make programs load code (PATH, LD_PRELOAD) are\n' +
    'refused unless you name them: SECRET/PATH. Every read is audited.',
  arguments: { secret: { summary: 'SECRET or SECRET/FIELD' } },
  options: {
    ...workspaceOptions,
    version: { kind: 'count', value: 'N', summary: 'An earlier version' },
    env: { kind: 'flag', summary: "Print lines for a shell to evaluate: export FIELD='VALUE'" },
  },
  examples: [
    { command: 'cairn vault get prod-db/DB_URL', does: 'one field' },
    { command: 'cairn vault get prod-db --version 2 --json', does: 'an earlier version' },
  ],
  async run({ args, options, cli }) {
    const { secret: name, field } = parseSecretPath(args.secret)
    const { version } = options
    const vault = await openVault(cli, options)
    const request = { version, signal: cli.signal }
    if (field !== undefined && !cli.isJson && !options.env) {
      await cli.out.bytes(await vault.readField(name, field, request))
      if (cli.out.isTerminal) await cli.out.line('')
      return
    }
    const secret =
      field === undefined
        ? await vault.read(name, request)
        : { name, fields: new Map([[field, await vault.readField(name, field, request)]]) }
    if (cli.isJson) return cli.out.json({ ...secret, fields: asJson(secret.fields) })
    if (options.env) {
      const variables = new Map<string, string>()
      const isNamed = field !== undefined
      for (const [each, bytes] of secret.fields) addVariable(variables, each, bytes, { isNamed })
      for (const [each, text] of variables) await cli.out.line(`export ${each}=${shellQuote(text)}`)
      return
    }
    for (const [each, bytes] of secret.fields)
      await cli.out.line(`${each}=${Buffer.from(bytes).toString()}`)
  },
})

function asJson(fields: Secret['fields']): object {
  return Object.fromEntries(
    [...fields].map(([field, bytes]) => {
      const text = Buffer.from(bytes).toString()
      const isText = Buffer.from(text).equals(bytes)
      return [field, isText ? text : { base64: Buffer.from(bytes).toString('base64') }]
    }),
  )
}
