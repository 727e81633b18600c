import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { exportToGit } from '../../git/exchange.ts'

export const command: Command = defineCommand({
  summary: 'Write a workspace as a git repository',
  description:
    'Clones the workspace as a git remote, without its key in a URL. If TARGET is an earlier export, fetches what is\n' +
    'new. If TARGET ends with .bundle, writes a bundle of git. With a token: the files that the token may read.',
  arguments: { target: { summary: 'A directory, or a file that ends with .bundle' } },
  options: { ...workspaceOptions },
  examples: [
    { command: 'cairn git export ./review', does: 'layers are branches: attempts/NAME' },
    { command: 'cairn git export work.bundle', does: 'everything in one file, for git clone' },
  ],
  async run({ args: { target }, options, cli }) {
    const done = await exportToGit(cli, options, target)
    if (cli.isJson) return cli.out.json({ path: target, done })
    await cli.out.line(`${done} ${target}`)
  },
})
