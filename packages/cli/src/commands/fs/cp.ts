import { type Command, defineCommand } from '../../arguments/command.ts'
import { readerOptions } from '../../context/credentials.ts'
import { copy } from '../../copy/copy.ts'

export const command: Command = defineCommand({
  summary: 'Copy files to, from and between workspaces',
  description:
    'A file goes into TARGET when that is a directory or ends with a slash, else exactly to TARGET. With -r, TARGET becomes a\n' +
    'copy of the directory: what is in SOURCE is then in TARGET, also when TARGET was there before, and copying again changes\n' +
    'nothing. Files that are there are replaced, others stay. Permissions and symlinks are kept, but a directory that is there\n' +
    'keeps its own permissions. Within one workspace the server copies without moving a byte.',
  arguments: {
    source: { summary: 'A local path, :/path, or - for standard input' },
    target: { summary: 'A local path, :/path, or - for standard output' },
  },
  options: {
    ...readerOptions,
    recursive: { kind: 'flag', short: 'r', summary: 'Directories with all that is in them' },
    resume: {
      kind: 'flag',
      summary: 'Go on with a copy that was interrupted; keep what is there if this one is',
    },
    append: { kind: 'flag', summary: 'Add to the end of TARGET instead of replacing it' },
    tag: {
      kind: 'list',
      value: 'KEY=VALUE',
      summary: 'Tag each file that is copied into a workspace; its other tags stay',
    },
  },
  examples: [
    { command: 'cairn fs cp ./plan.md :/plan.md', does: 'put a file into the workspace' },
    { command: 'cairn fs cp -r :/reports ./reports', does: 'get a directory' },
    { command: 'cairn fs cp :/a.txt prod:/a.txt', does: 'from one server to another' },
    { command: 'make 2>&1 | cairn fs cp - :/build.log', does: 'from a pipe' },
    { command: 'cairn fs cp --resume ./model.bin :/model.bin', does: 'after the line broke' },
    { command: 'cairn fs cp --append ./today.log :/all.log', does: 'add to a file' },
    { command: 'cairn fs cp --tag agent=a ./plan.md :/', does: 'tag what is copied' },
  ],
  async run({ args: { source, target }, options, cli }) {
    const summary = await copy(cli, options, source, target)
    // The standard output may be what was copied to.
    if (cli.isJson) await (target === '-' ? cli.err : cli.out).json(summary)
  },
})
