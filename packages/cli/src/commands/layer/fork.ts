import { type Command, defineCommand } from '../../arguments/command.ts'
import { layerOptions } from '../../context/credentials.ts'
import { layerName, parseTags } from '../../layers/format.ts'
import { newLayerOptions, parseSettings } from '../../layers/options.ts'
import { quotaOptions } from '../../layers/quota.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Make a layer on a layer',
  description:
    'Its commit goes to PARENT, whose own commit goes on to what PARENT was made from. Of a PARENT that is over it makes another attempt with the same base and the same work: after a rollback that work can be committed anew.',
  arguments: { parent: { summary: 'The layer to stand on' } },
  options: {
    ...layerOptions,
    ...newLayerOptions,
    ...quotaOptions,
    path: { kind: 'text', value: 'PATH', summary: "A directory below; PARENT's unless given" },
    checkpoint: { kind: 'text', value: 'CHECKPOINT', summary: 'The same as --at' },
  },
  examples: [
    { command: 'cairn fs layer fork plan --name plan-step-1', does: 'a step of a plan' },
    { command: 'cairn fs layer fork fix-auth-a --at tests-pass', does: 'from a checkpoint' },
  ],
  async run({ args: { parent }, options, cli }) {
    const { id, name, tag, message, path, at = options.checkpoint } = options
    const workspace = await openWorkspace(cli, options)
    const layer = await workspace.layers.fork(parent, {
      id,
      name,
      tags: parseTags(tag),
      message,
      ...parseSettings(options),
      path: path?.replace(/^:/, ''),
      at,
      signal: cli.signal,
    })
    if (cli.isJson) return cli.out.json(layer)
    await cli.out.line(`made layer ${layerName(layer)} of ${layer.path} on ${parent} (${layer.id})`)
  },
})
