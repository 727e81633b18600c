import { type Command, defineCommand } from '../../../arguments/command.ts'
import { workspaceOptions } from '../../../context/credentials.ts'
import { openGitPlace } from '../../../git/place.ts'
import { addWorktree } from '../../../git/worktree.ts'

export const command: Command = defineCommand({
  summary: 'Make a worktree in a mount, in one change',
  description:
    'Does what git worktree add does, with the same rules for REV. The files appear at once instead of one by one, and the\n' +
    'first git status reads none of them. To remove it: git worktree remove.',
  arguments: {
    base: { summary: 'A working tree of the repository, in a mount' },
    directory: { summary: 'The new worktree, in the same mount' },
    rev: { summary: 'A branch or a commit; a new branch unless given', optional: true },
  },
  options: {
    ...workspaceOptions,
    fast: { kind: 'flag', summary: 'Build the tree at the server; always so' },
  },
  examples: [
    {
      command: 'cairn git worktree add --fast ./work/repo ./work/fix',
      does: 'a new branch called fix',
    },
    { command: 'cairn git worktree add ./work/repo ./work/v1 v1.0', does: 'an older state' },
  ],
  async run({ args: { base, directory, rev }, options, cli }) {
    const place = await openGitPlace(cli, options, directory)
    const receipt = await addWorktree(cli, place, { base, directory, rev })
    if (cli.isJson) return cli.out.json({ path: place.remote.path, ...receipt })
    await cli.out.line(
      `made ${directory}, with ${receipt.files} ${receipt.files === 1 ? 'file' : 'files'}`,
    )
  },
})
