import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { usageError } from '../../errors.ts'
import { openVault } from '../../vault/open-vault.ts'
import { parseSecretName } from '../../vault/secret-path.ts'
import { readDirectory, readValues } from '../../vault/values.ts'

export const command: Command = defineCommand({
  summary: 'Replace a secret with new fields',
  description:
    'Creates a new version with exactly these fields. Earlier versions stay readable by number.',
  arguments: {
    secret: { summary: 'The name' },
    value: { summary: 'FIELD=VALUE, FIELD=@FILE or FIELD=-', optional: true, many: true },
  },
  options: {
    ...workspaceOptions,
    from: {
      kind: 'text',
      value: 'DIR',
      summary: 'Read one field from each file in this directory',
    },
    'if-version': {
      kind: 'count',
      value: 'N',
      summary: 'Only if the secret is at this version; 0 means that it is new',
    },
  },
  examples: [
    { command: 'cairn vault put /n/vault/prod-db --from ./prod-db', does: 'from files' },
    {
      command: 'cairn vault put prod-db DB_URL=@url.txt --if-version 3',
      does: 'only if the secret is still at version 3',
    },
  ],
  async run({ args, options, cli }) {
    const secret = parseSecretName(args.secret)
    const given = await readValues(cli, args.value ?? [])
    const found = options.from === undefined ? {} : await readDirectory(options.from)
    const fields = { ...found, ...given }
    if (Object.keys(fields).length === 0)
      throw usageError(
        `replace the secret ${secret}`,
        'no field is given',
        'Give FIELD=VALUE or --from DIR.',
      )
    const vault = await openVault(cli, options)
    const receipt = await vault.put(secret, fields, {
      ifVersion: options['if-version'],
      signal: cli.signal,
    })
    if (cli.isJson) return cli.out.json(receipt)
    await cli.out.line(`${secret} is at version ${receipt.version}: ${receipt.fields.join(', ')}`)
  },
})
