import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { withConflicts } from '../../layers/conflicts.ts'
import { countPaths } from '../../layers/format.ts'
import { mergeOptions } from '../../layers/options.ts'
import { openWorkspace } from '../../remote/open.ts'
import { commandLine } from '../../output/shell-words.ts'

export const command: Command = defineCommand({
  summary: 'Rebase a layer onto the current state of its parent',
  description:
    'The current state of the parent becomes the base of the layer. Conflicts are reported as by cairn fs\n' +
    'layer commit.',
  arguments: { layer: { summary: 'Id, name or tag of a layer, or a checkpoint' } },
  options: { ...workspaceOptions, ...mergeOptions },
  examples: [{ command: 'cairn fs layer rebase fix-auth-b', does: 'then test, then commit' }],
  async run({ args: { layer }, options, cli }) {
    const { message, merge } = options
    const { layers } = await openWorkspace(cli, options)
    const request = { message, merge, signal: cli.signal }
    const receipt = await withConflicts(cli, layer, () => layers.rebase(layer, request))
    if (cli.isJson) return cli.out.json(receipt)
    await cli.out.line(`rebased ${layer}: ${countPaths(receipt.paths.length)} changed`)
    await cli.out.line(commandLine`next: cairn fs layer commit ${layer}`)
  },
})
