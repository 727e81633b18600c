import { type Command, defineCommand } from '../../arguments/command.ts'
import { fileOptions } from '../../context/credentials.ts'
import { openRemote } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Make directories, with their parents',
  description: 'An existing directory is not an error.',
  arguments: { path: { summary: 'The directories', many: true } },
  options: {
    ...fileOptions,
    mode: { kind: 'text', short: 'm', value: 'MODE', summary: 'Permissions in octal: 0755' },
    parents: { kind: 'flag', short: 'p', summary: 'Always on; accepted for compatibility' },
  },
  examples: [{ command: 'cairn fs mkdir :/reports/2031', does: 'both, if need be' }],
  async run({ args, options: { mode, ...options }, cli }) {
    for (const path of args.path) {
      const remote = await openRemote(cli, options, path)
      const { signal } = cli
      const receipt = await remote.files.mkdir(remote.path, { mode, parents: true, signal })
      if (cli.isJson) await cli.out.json({ path: remote.path, ...receipt })
    }
  },
})
