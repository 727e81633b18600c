import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { layerName, parseTags } from '../../layers/format.ts'
import { newLayerOptions, parseSettings } from '../../layers/options.ts'
import { quotaOptions } from '../../layers/quota.ts'
import { openRemote } from '../../remote/open.ts'
import { commandLine } from '../../output/shell-words.ts'

export const command: Command = defineCommand({
  summary: 'Create a layer: a private copy of a directory for one attempt',
  description:
    'Creates a branch of the current state in constant time. Only PATH can be changed in it. Others see the\n' +
    'changes when you commit the layer. The layer sees changes of others when you rebase it.',
  arguments: { path: { summary: 'The directory; it need not exist yet' } },
  options: {
    ...workspaceOptions,
    ...newLayerOptions,
    ...quotaOptions,
    parent: { kind: 'text', value: 'REF', summary: 'The parent layer (default: main)' },
  },
  examples: [
    {
      command: 'cairn fs layer create :/repo --name fix-auth-a --tag agent=a',
      does: 'an attempt that you find by name or tag',
    },
    {
      command: 'cairn fs layer create :/repo --max-bytes 1GiB --auto-checkpoint 30s',
      does: 'with limits and automatic checkpoints',
    },
    { command: 'cairn fs layer create :/repo --json', does: 'its id, for a program' },
  ],
  async run({ args, options, cli }) {
    const { workspace, path } = await openRemote(cli, withoutPoint(options), args.path)
    const { id, name, tag, message, parent, at } = options
    const layer = await workspace.layers.create(path, {
      id,
      name,
      tags: parseTags(tag),
      message,
      ...parseSettings(options),
      parent,
      at,
      signal: cli.signal,
    })
    if (cli.isJson) return cli.out.json(layer)
    const called = layerName(layer)
    await cli.out.line(`made layer ${called} of ${layer.path} (${layer.id})`)
    await cli.out.line(commandLine`next: cairn fs cp FILE :${layer.path} --layer ${called}`)
  },
})

/** The point is one of the parent's. */
function withoutPoint<T extends { readonly at?: unknown }>(options: T): Omit<T, 'at'> {
  const { at: _, ...rest } = options
  return rest
}
