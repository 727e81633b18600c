import { type Command, defineCommand } from '../../arguments/command.ts'
import { layerOptions } from '../../context/credentials.ts'
import { checkpointName } from '../../layers/format.ts'
import { openWorkspace } from '../../remote/open.ts'
import { commandLine } from '../../output/shell-words.ts'

export const command: Command = defineCommand({
  summary: 'Name a layer as it is now',
  description:
    'It has every write that any mount of the layer acknowledged before: those are asked to hand in first. Everything is in\n' +
    'it, also files that no tool tracks.',
  arguments: { layer: { summary: 'Its id, name, tag or a checkpoint' } },
  options: {
    ...layerOptions,
    label: { kind: 'text', value: 'TEXT', summary: 'What to call it' },
    'tool-call': { kind: 'text', value: 'ID', summary: 'The tool call that is about to be made' },
    id: { kind: 'text', value: 'ID', summary: 'Its id; a new one unless given' },
    wait: { kind: 'flag', summary: 'Always so; taken for the sake of habit' },
  },
  examples: [
    { command: 'cairn fs layer checkpoint fix-auth-a --label tests-pass', does: 'a good point' },
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
