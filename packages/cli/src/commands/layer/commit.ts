import { type Command, defineCommand } from '../../arguments/command.ts'
import { layerOptions } from '../../context/credentials.ts'
import { withConflicts } from '../../layers/conflicts.ts'
import { countPaths, formatChange, formatDecision } from '../../layers/format.ts'
import { mergeOptions } from '../../layers/options.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Apply a layer to what it was made from, all or nothing',
  description:
    'Where both sides changed a path in different ways, nothing is applied: the layer becomes conflicted, every path is told\n' +
    'with what to type next, and the exit status is 9. A conflicted layer can be worked on like any other.',
  arguments: { layer: { summary: 'Its id, name, tag or a checkpoint' } },
  options: {
    ...layerOptions,
    ...mergeOptions,
    checkpoint: { kind: 'text', value: 'CHECKPOINT', summary: 'Commit the layer as it was then' },
    'dry-run': { kind: 'flag', summary: 'Only tell what would happen' },
    'idempotency-key': {
      kind: 'text',
      value: 'KEY',
      summary: 'The same key again gives the same receipt, and commits nothing twice',
    },
  },
  examples: [
    { command: 'cairn fs layer commit fix-auth-a --message tokens-expire', does: 'apply it' },
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
