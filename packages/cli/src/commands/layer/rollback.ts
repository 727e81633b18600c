import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { countPaths } from '../../layers/format.ts'
import { openWorkspace } from '../../remote/open.ts'
import { commandLine } from '../../output/shell-words.ts'

export const command: Command = defineCommand({
  summary: 'Roll a layer back to a checkpoint, or to its base',
  description:
    'Everything comes back, also files that no tool tracks. Live mounts see it at once. What it leaves is an automatic checkpoint: cairn fs layer undo takes the rollback back, and after later writes --to that checkpoint does.',
  arguments: { layer: { summary: 'Id, name or tag of a layer, or a checkpoint' } },
  options: {
    ...workspaceOptions,
    to: {
      kind: 'text',
      value: 'CHECKPOINT',
      summary: 'Id, label or tool call of the checkpoint (default: the base)',
    },
    'before-tool-call': {
      kind: 'text',
      value: 'ID',
      summary: 'Roll back to the checkpoint that was made before this tool call',
    },
  },
  examples: [
    { command: 'cairn fs layer rollback fix-auth-a --to tests-pass', does: 'to a checkpoint' },
    {
      command: 'cairn fs layer rollback fix-auth-a --before-tool-call call_7',
      does: 'undo a tool',
    },
    { command: 'cairn fs layer rollback fix-auth-a', does: 'drop all changes' },
  ],
  async run({ args: { layer }, options, cli }) {
    const { layers } = await openWorkspace(cli, options)
    const { to, 'before-tool-call': beforeToolCall } = options
    const receipt = await layers.rollback(layer, { to, beforeToolCall, signal: cli.signal })
    if (cli.isJson) return cli.out.json(receipt)
    const changed = countPaths(receipt.paths.length)
    const where = beforeToolCall === undefined ? (to ?? 'its base') : `before ${beforeToolCall}`
    await cli.out.line(`rolled ${layer} back to ${where}: ${changed} changed`)
    await cli.out.line(commandLine`take it back: cairn fs layer undo ${layer}`)
  },
})
