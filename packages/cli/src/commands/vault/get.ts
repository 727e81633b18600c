import type { Secret } from '@cairn/sdk'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { layerOptions } from '../../context/credentials.ts'
import { openVault } from '../../vault/open-vault.ts'
import { parseSecretPath } from '../../vault/secret-path.ts'

export const command: Command = defineCommand({
  summary: 'Print a secret, or one field of it',
  description:
    'One field is printed as it is, byte for byte; several as FIELD=VALUE. With --json, a value that is not UTF-8 is in "base64".\n' +
    'Every read is in the audit.',
  arguments: { secret: { summary: 'SECRET or SECRET/FIELD' } },
  options: {
    ...layerOptions,
    version: { kind: 'count', value: 'N', summary: 'An earlier version' },
    env: { kind: 'flag', summary: "Quoted for a shell: export FIELD='VALUE'" },
  },
  examples: [
    { command: 'cairn vault get prod-db/DB_URL', does: 'one field' },
    { command: 'cairn vault get prod-db --version 2 --json', does: 'how it was' },
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
    for (const [each, bytes] of secret.fields) {
      const text = Buffer.from(bytes).toString()
      await cli.out.line(options.env ? `export ${each}=${quote(text)}` : `${each}=${text}`)
    }
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

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\\''`)}'`
}
