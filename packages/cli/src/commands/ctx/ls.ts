import { type Command, defineCommand } from '../../arguments/command.ts'
import { contextKinds, readConfig, type SavedContext } from '../../context/config.ts'
import { statusOf } from '../../context/show.ts'
import { usageError } from '../../errors.ts'

export const command: Command = defineCommand({
  summary: 'List saved contexts',
  description: 'Reads the saved file without asking the server. A star marks the current context.',
  arguments: {},
  options: {
    long: { kind: 'flag', short: 'l', summary: 'Also show the scope, end and status of tokens' },
    details: { kind: 'flag', short: 'D', summary: 'Same as -l' },
    type: { kind: 'choice', choices: contextKinds, summary: 'Only contexts of this kind' },
    scoped: { kind: 'flag', summary: 'Only tokens: --type fs_scoped' },
  },
  examples: [
    { command: 'cairn ctx ls', does: 'all of them' },
    { command: 'cairn ctx ls --type delegated --json', does: 'for a program' },
  ],
  async run({ options, cli }) {
    if (options.scoped && options.type !== undefined && options.type !== 'fs_scoped')
      throw usageError('list contexts', '--scoped and --type differ', 'Give one of them.')
    const kind = options.scoped ? 'fs_scoped' : options.type
    const { contexts, currentContext } = await readConfig(cli)
    const chosen = [...contexts].filter(
      ([, context]) => kind === undefined || context.kind === kind,
    )
    if (cli.isJson) {
      for (const [name, context] of chosen)
        await cli.out.json({
          name,
          current: name === currentContext,
          ...context,
          apiKey: undefined,
        })
      return
    }
    const isLong = options.long || options.details
    const head = [
      '',
      'NAME',
      'KIND',
      'SERVER',
      'WORKSPACE',
      ...(isLong ? ['STATUS', 'ENDS', 'SCOPE'] : []),
    ]
    const rows = chosen.map(([name, context]) => [
      name === currentContext ? '*' : '',
      ...row(name, context),
      ...(isLong ? details(context) : []),
    ])
    await cli.out.table([head, ...rows])
  },
})

function row(name: string, { kind, server, workspace = '-' }: SavedContext): string[] {
  return [name, kind, server, workspace]
}

function details(context: SavedContext): string[] {
  const { expiresAt = '-', scope = [] } = context
  return [statusOf(context, new Date()), expiresAt, scope.join(',') || '*']
}
