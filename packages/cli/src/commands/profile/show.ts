import { type Command, defineCommand } from '../../arguments/command.ts'
import { findProfile } from '../../mount/profiles.ts'

export const command: Command = defineCommand({
  summary: 'Show the patterns of a profile',
  description:
    'The output is a profile file. Save it as ~/.cairn/profiles/NAME, change it, and mount with --profile NAME.',
  arguments: { name: { summary: 'The name, or a file' } },
  options: {},
  examples: [{ command: 'cairn profile show portable', does: 'which directories a pack contains' }],
  async run({ args, cli }) {
    const profile = findProfile(cli, args.name)
    if (cli.isJson) return cli.out.json(profile)
    for (const section of ['local', 'scratch', 'durable'] as const)
      for (const line of [`[${section}]`, ...profile[section]]) await cli.out.line(line)
  },
})
