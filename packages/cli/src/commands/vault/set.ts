import { type Command, defineCommand } from '../../arguments/command.ts'
import { layerOptions } from '../../context/credentials.ts'
import { usageError } from '../../errors.ts'
import { openVault } from '../../vault/open-vault.ts'
import { parseSecretPath } from '../../vault/secret-path.ts'
import { readValues } from '../../vault/values.ts'

export const command: Command = defineCommand({
  summary: 'Set fields of a secret, and keep the others',
  description:
    'Makes a new version, and the secret if it is not there. FIELD=@FILE takes the value from a file, FIELD=- from standard\n' +
    'input: what stands on the command line itself can be seen by other users of the machine for a moment.',
  arguments: {
    secret: { summary: 'Its name, or SECRET/FIELD with a value behind it' },
    value: { summary: 'FIELD=VALUE, FIELD=@FILE or FIELD=-', optional: true, many: true },
  },
  options: {
    ...layerOptions,
    unset: { kind: 'list', value: 'FIELD', summary: 'Take this field away' },
    'if-version': {
      kind: 'count',
      value: 'N',
      summary: 'Only if it is at this version; 0: if it is new',
    },
  },
  examples: [
    { command: 'cairn vault set prod-db DB_URL=@url.txt DB_USER=app', does: 'two fields' },
    { command: 'cairn vault set prod-db DB_PASSWORD=-', does: 'from standard input' },
    { command: 'cairn vault set prod-db --unset DB_USER', does: 'take one away' },
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
