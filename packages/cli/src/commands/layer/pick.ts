import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { withConflicts } from '../../layers/conflicts.ts'
import { countPaths } from '../../layers/format.ts'
import { mergeOptions } from '../../layers/options.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Commit one of several attempts and abandon the others',
  description:
    'The others are the open layers with the same parent, path and base. You can reopen each of them.',
  arguments: { layer: { summary: 'The layer to commit: its id, name or tag, or a checkpoint' } },
  options: {
    ...workspaceOptions,
    ...mergeOptions,
    'dry-run': {
      kind: 'flag',
      summary: 'Show what would be committed and abandoned, and change nothing',
    },
  },
  examples: [
    { command: 'cairn fs layer pick fix-auth-a', does: 'the best attempt' },
    { command: 'cairn fs layer pick fix-auth-a --dry-run', does: 'which would be abandoned?' },
  ],
  async run({ args: { layer }, options, cli }) {
    const { message, merge, 'dry-run': dryRun } = options
    const { layers } = await openWorkspace(cli, options)
    const request = { message, merge, dryRun, signal: cli.signal }
    const receipt = await withConflicts(cli, layer, () => layers.pick(layer, request))
    if (cli.isJson) return cli.out.json(receipt)
    const { commit, abandoned } = receipt
    const did = dryRun ? 'would commit' : 'committed'
    await cli.out.line(`${did} ${layer} to ${commit.target}: ${countPaths(commit.paths.length)}`)
    for (const id of abandoned)
      await cli.out.line(
        dryRun
          ? `would abandon ${id}`
          : `abandoned ${id}; bring it back: cairn fs layer reopen ${id}`,
      )
  },
})
