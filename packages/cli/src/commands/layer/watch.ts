import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { formatOverlap } from '../../layers/format.ts'
import { openWorkspace } from '../../remote/open.ts'
import { linesOf } from '../fs/log.ts'

export const command: Command = defineCommand({
  summary: 'Follow a layer, and warn when others change the same paths',
  description:
    'Prints changes of the layer as they happen, and a warning for each path that the parent or another layer\n' +
    'changed too. Runs until you press Ctrl-C.',
  arguments: { layer: { summary: 'Id, name or tag of a layer, or a checkpoint' } },
  options: {
    ...workspaceOptions,
    after: {
      kind: 'count',
      value: 'SEQ',
      summary: 'First print what came after this sequence number',
    },
    radar: { kind: 'flag', summary: 'Print warnings only' },
  },
  examples: [
    { command: 'cairn fs layer watch fix-auth-a', does: 'changes and warnings' },
    { command: 'cairn fs layer watch fix-auth-a --radar --json', does: 'warnings, for a program' },
  ],
  async run({ args: { layer }, options, cli }) {
    const { layers } = await openWorkspace(cli, options)
    const { isTerminal } = cli.out
    for await (const event of layers.watch(layer, { after: options.after, signal: cli.signal })) {
      if (event.type === 'change' && options.radar) continue
      if (cli.isJson) await cli.out.json(event)
      else if (event.type === 'change')
        for (const line of linesOf({ session: '', ...event }, cli.out)) await cli.out.line(line)
      else
        for (const overlap of event.overlaps) await cli.out.line(formatOverlap(overlap, isTerminal))
      // A program that reads a pipe waits for this one.
      await cli.out.flush()
    }
  },
})
