import { type Command, defineCommand } from '../../arguments/command.ts'
import { fileOptions } from '../../context/credentials.ts'
import { usageError } from '../../errors.ts'
import { parseLocation } from '../../remote/location.ts'
import { openRemote } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Make a symlink',
  description:
    'The target is stored as given, without a leading colon; it need not exist. Parents are made.',
  arguments: {
    target: {
      summary: 'What the link leads to; relative to its directory unless it begins with /',
    },
    link: { summary: 'Where the link is made' },
  },
  options: fileOptions,
  examples: [{ command: 'cairn fs symlink releases/17 :/current', does: 'like ln -s' }],
  async run({ args, options, cli }) {
    const { files, path } = await openRemote(cli, options, args.link)
    const location = parseLocation(args.target)
    if (location?.context !== undefined)
      throw usageError(`link to ${args.target}`, 'a symlink stays in its workspace', 'Give a path.')
    const target = location?.path ?? args.target
    const receipt = await files.symlink(target, path, { parents: true, signal: cli.signal })
    if (cli.isJson) await cli.out.json({ path, target, ...receipt })
  },
})
