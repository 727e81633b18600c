import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { checkpointName } from '../../layers/format.ts'
import { openWorkspace } from '../../remote/open.ts'
import { commandLine } from '../../output/shell-words.ts'

export const command: Command = defineCommand({
  summary: 'Make a checkpoint of a layer',
  description:
    'All mounts of the layer first send what they have acknowledged, so the checkpoint contains it. It\n' +
    'contains every file, also those that git does not track.',
  arguments: { layer: { summary: 'Id, name or tag of a layer, or a checkpoint' } },
  options: {
    ...workspaceOptions,
    label: { kind: 'text', value: 'TEXT', summary: 'The name' },
    'tool-call': { kind: 'text', value: 'ID', summary: 'Id of the tool call that comes next' },
    id: { kind: 'text', value: 'ID', summary: 'The id (default: a new one)' },
    wait: { kind: 'flag', summary: 'Always on; accepted for compatibility' },
  },
  examples: [
    {
      command: 'cairn fs layer checkpoint fix-auth-a --label tests-pass',
      does: 'a state to come back to',
    },
    { command: 'cairn fs layer checkpoint fix-auth-a --tool-call call_7', does: 'before a tool' },
  ],
  async run({ args: { layer }, options, cli }) {
    const { label, id, 'tool-call': toolCall } = options
    const { layers } = await openWorkspace(cli, options)
    const request = { label, id, toolCall, signal: cli.signal }
    const checkpoint = await layers.checkpoint(layer, request)
    if (cli.isJson) return cli.out.json(checkpoint)
    await cli.out.line(`made checkpoint ${checkpointName(checkpoint)} of ${layer}`)
    const to = label ?? toolCall ?? checkpoint.id
    await cli.out.line(commandLine`back to it: cairn fs layer rollback ${layer} --to ${to}`)
  },
})
