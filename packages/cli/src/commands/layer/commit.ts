import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { withConflicts } from '../../layers/conflicts.ts'
import { countPaths, formatChange, formatDecision } from '../../layers/format.ts'
import { mergeOptions } from '../../layers/options.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Commit a layer to its parent, all or nothing',
  description:
    'If the layer and its parent changed a path in different ways, nothing is committed: the layer becomes\n' +
    'conflicted, the command lists each path with what to type next, and the exit code is 9. You can continue\n' +
    'to work in a conflicted layer.',
  arguments: { layer: { summary: 'Id, name or tag of a layer, or a checkpoint' } },
  options: {
    ...workspaceOptions,
    ...mergeOptions,
    checkpoint: {
      kind: 'text',
      value: 'CHECKPOINT',
      summary: 'Commit the layer as of this checkpoint',
    },
    'dry-run': { kind: 'flag', summary: 'Show what would happen, and change nothing' },
    'idempotency-key': {
      kind: 'text',
      value: 'KEY',
      summary: 'Repeating the command with the same key gives the same receipt',
    },
  },
  examples: [
    { command: 'cairn fs layer commit fix-auth-a --message tokens-expire', does: 'commit it' },
    { command: 'cairn fs layer commit fix-auth-b --merge --dry-run', does: 'what would happen?' },
  ],
  async run({ args: { layer }, options, cli }) {
    const { message, merge, checkpoint, 'dry-run': dryRun } = options
    const { layers } = await openWorkspace(cli, options)
    const idempotencyKey = options['idempotency-key']
    const request = { message, merge, checkpoint, dryRun, idempotencyKey, signal: cli.signal }
    const receipt = await withConflicts(cli, layer, () => layers.commit(layer, request))
    if (cli.isJson) return cli.out.json(receipt)
    const { target, seq, before, after, paths, resolved } = receipt
    const did = dryRun ? `would commit ${layer} to ${target}` : `committed ${layer} to ${target}`
    const roots = `${before.slice(0, 16)} -> ${after.slice(0, 16)}`
    const at = seq === undefined ? '' : ` at ${seq}`
    await cli.out.line(`${did}${at}: ${countPaths(paths.length)}, ${roots}`)
    const { isTerminal } = cli.out
    for (const change of paths) await cli.out.line(`  ${formatChange(change, isTerminal)}`)
    for (const decision of resolved) await cli.out.line(formatDecision(decision, isTerminal))
  },
})
