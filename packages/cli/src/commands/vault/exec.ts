import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { usageError } from '../../errors.ts'
import { openVault } from '../../vault/open-vault.ts'
import { runCommand } from '../../vault/run-command.ts'
import { readVariables } from '../../vault/variables.ts'

export const command: Command = defineCommand({
  summary: 'Run a command with secrets in its environment',
  description:
    'Each field becomes an environment variable with its name, for this command only; nothing is written to a\n' +
    "file. Cairn's own keys are removed from the environment. The exit code is that of the command. Without\n" +
    '--secret and --env, the first word is the secret: cairn vault with prod-db -- CMD.',
  arguments: { command: { summary: 'The command and its arguments, after --', many: true } },
  options: {
    ...workspaceOptions,
    secret: {
      kind: 'list',
      value: 'SECRET',
      summary: 'SECRET for all its fields, or SECRET/FIELD for one',
    },
    env: {
      kind: 'list',
      value: 'NAME=SECRET/FIELD',
      summary: 'A field as a variable with another name',
    },
  },
  examples: [
    {
      command: 'cairn vault exec --secret prod-db -- npm run migrate',
      does: 'sets DB_URL and the other fields',
    },
    { command: 'cairn vault exec --env PGURL=prod-db/DB_URL -- psql', does: 'one field, renamed' },
  ],
  async run({ args, options, cli }) {
    const { secret, env } = options
    const isNamed = secret.length + env.length > 0
    const [first = '', ...rest] = args.command
    const [secrets, words] = isNamed ? [secret, args.command] : [[first], rest]
    if (words.length === 0)
      throw usageError(
        'run a command',
        'none is given',
        'Give it after --: cairn vault exec --secret NAME -- CMD.',
      )
    const vault = await openVault(cli, options)
    const variables = await readVariables(vault, { secrets, renamed: env }, cli.signal)
    await cli.out.flush()
    await runCommand(cli, words, variables)
  },
})
