import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { runHydrate } from '../../git/hydrate/run-hydrate.ts'

export const command: Command = defineCommand({
  summary: 'Fetch what a partial clone lacks',
  description:
    'Fetches the content that is not in the workspace from the origin, on this machine and with the credentials of git,\n' +
    'and adds it. Then no git command asks the origin for it, in any sandbox. You can interrupt and repeat it.',
  arguments: {
    directory: { summary: 'A working tree in a mount, or :/path' },
  },
  options: {
    ...workspaceOptions,
    layer: { kind: 'text', value: 'REF', summary: 'A clone in this layer' },
    background: { kind: 'flag', summary: 'Return at once; cairn git status shows how far it is' },
    credential: {
      kind: 'text',
      value: 'vault:NAME/FIELD',
      summary: 'Read the password from the vault',
    },
  },
  examples: [
    { command: 'cairn git hydrate ./work/repo', does: 'before the origin goes away' },
    { command: 'cairn git hydrate --background :/repo', does: 'without a mount' },
  ],
  run: ({ args: { directory }, options, cli }) => runHydrate(cli, directory, options),
})
