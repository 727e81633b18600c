import { type Command, defineCommand } from '../../arguments/command.ts'
import { readerOptions } from '../../context/credentials.ts'
import { copy } from '../../copy/copy.ts'

export const command: Command = defineCommand({
  summary: 'Copy files to, from and between workspaces',
  description:
    'If TARGET is a directory or ends with a slash, the file is copied into it; otherwise TARGET is the new\n' +
    'file. With -r, the contents of SOURCE are copied into TARGET, whether it exists or not, so copying twice\n' +
    'gives the same result. Existing files are replaced, and other files in TARGET stay. Permissions and\n' +
    'symlinks are kept; an existing directory keeps its own permissions. Within one workspace the server\n' +
    'copies, and no content travels.',
  arguments: {
    source: { summary: 'A local path, :/path, or - for standard input' },
    target: { summary: 'A local path, :/path, or - for standard output' },
  },
  options: {
    ...readerOptions,
    recursive: { kind: 'flag', short: 'r', summary: 'Directories with everything in them' },
    resume: {
      kind: 'flag',
      summary: 'Continue an interrupted copy; if this one is interrupted, keep what was copied',
    },
    append: { kind: 'flag', summary: 'Append to TARGET instead of replacing it' },
    tag: {
      kind: 'list',
      value: 'KEY=VALUE',
      summary: 'Tag each file that is copied into a workspace; other tags stay',
    },
  },
  examples: [
    { command: 'cairn fs cp ./plan.md :/plan.md', does: 'put a file into the workspace' },
    { command: 'cairn fs cp -r :/reports ./reports', does: 'get a directory' },
    { command: 'cairn fs cp :/a.txt prod:/a.txt', does: 'from one server to another' },
    { command: 'make 2>&1 | cairn fs cp - :/build.log', does: 'from a pipe' },
    {
      command: 'cairn fs cp --resume ./model.bin :/model.bin',
      does: 'continue after an interruption',
    },
    { command: 'cairn fs cp --append ./today.log :/all.log', does: 'append to a file' },
    { command: 'cairn fs cp --tag agent=a ./plan.md :/', does: 'tag the copied files' },
  ],
  async run({ args: { source, target }, options, cli }) {
    const summary = await copy(cli, options, source, target)
    // The standard output may be what was copied to.
    if (cli.isJson) await (target === '-' ? cli.err : cli.out).json(summary)
  },
})
