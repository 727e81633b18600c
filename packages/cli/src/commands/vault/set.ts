import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { usageError } from '../../errors.ts'
import { openVault } from '../../vault/open-vault.ts'
import { parseSecretPath } from '../../vault/secret-path.ts'
import { readValues } from '../../vault/values.ts'

export const command: Command = defineCommand({
  summary: 'Set fields of a secret, and keep its other fields',
  description:
    'Creates a new version, and the secret if it does not exist. FIELD=@FILE reads the value from a file, and\n' +
    'FIELD=- from standard input. Other users of this machine can see values that you type on the command\n' +
    'line.',
  arguments: {
    secret: { summary: 'The name, or SECRET/FIELD followed by a value' },
    value: { summary: 'FIELD=VALUE, FIELD=@FILE or FIELD=-', optional: true, many: true },
  },
  options: {
    ...workspaceOptions,
    unset: { kind: 'list', value: 'FIELD', summary: 'Remove this field' },
    'if-version': {
      kind: 'count',
      value: 'N',
      summary: 'Only if the secret is at this version; 0 means that it is new',
    },
  },
  examples: [
    { command: 'cairn vault set prod-db DB_URL=@url.txt DB_USER=app', does: 'two fields' },
    { command: 'cairn vault set prod-db DB_PASSWORD=-', does: 'from standard input' },
    { command: 'cairn vault set prod-db --unset DB_USER', does: 'remove a tag' },
  ],
  async run({ args, options, cli }) {
    const { secret, field } = parseSecretPath(args.secret)
    const words = (args.value ?? []).map((word) =>
      field === undefined || word.includes('=') ? word : `${field}=${word}`,
    )
    const values = await readValues(cli, words)
    const fields = { ...values, ...Object.fromEntries(options.unset.map((name) => [name, null])) }
    if (Object.keys(fields).length === 0)
      throw usageError(`set the secret ${secret}`, 'no field is given', 'Give FIELD=VALUE.')
    const vault = await openVault(cli, options)
    const receipt = await vault.set(secret, fields, {
      ifVersion: options['if-version'],
      signal: cli.signal,
    })
    if (cli.isJson) return cli.out.json(receipt)
    await cli.out.line(`${secret} is at version ${receipt.version}: ${receipt.fields.join(', ')}`)
  },
})
