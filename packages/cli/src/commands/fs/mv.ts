import { type Command, defineCommand } from '../../arguments/command.ts'
import { fileOptions } from '../../context/credentials.ts'
import { baseName, joinPath } from '../../remote/location.ts'
import { findStat, openRemote, type Remote, requireSameWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Rename a file or directory',
  description:
    'If TARGET is a directory, it moves into it. Missing parents are created; a file at the target is replaced.',
  arguments: { source: { summary: 'The current path' }, target: { summary: 'The new path' } },
  options: {
    ...fileOptions,
    'no-replace': {
      kind: 'flag',
      short: 'n',
      summary: 'Fail if the target exists',
    },
  },
  examples: [
    { command: 'cairn fs mv :/draft.md :/final.md', does: 'rename' },
    { command: 'cairn fs mv :/a.txt :/archive/', does: 'into a directory' },
  ],
  async run({ args, options, cli }) {
    const source = await openRemote(cli, options, args.source)
    const target = await openRemote(cli, options, args.target)
    requireSameWorkspace(source, target, `move ${args.source} to ${args.target}`)
    const to = await placeFor(source.path, target, cli.signal)
    const noReplace = options['no-replace']
    const receipt = await source.files.move(source.path, to, {
      noReplace,
      parents: true,
      signal: cli.signal,
    })
    if (cli.isJson) await cli.out.json({ ...receipt, path: to })
  },
})

/** Where something called like `source` goes: into a directory under its own name, else exactly to the target. */
async function placeFor(source: string, target: Remote, signal: AbortSignal): Promise<string> {
  const stat = await findStat(target, signal)
  const isInto = target.path.endsWith('/') || stat?.kind === 'directory'
  return isInto ? joinPath(target.path, baseName(source)) : target.path
}
