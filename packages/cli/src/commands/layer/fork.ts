import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { layerName, parseTags } from '../../layers/format.ts'
import { newLayerOptions, parseSettings } from '../../layers/options.ts'
import { quotaOptions } from '../../layers/quota.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Create a layer whose parent is a layer',
  description:
    'A commit of the new layer goes to PARENT. If PARENT is committed or abandoned, the new layer has the\n' +
    'same base and the same changes as PARENT: after a rollback of the commit, you can commit that work\n' +
    'again.',
  arguments: { parent: { summary: 'The parent layer' } },
  options: {
    ...workspaceOptions,
    ...newLayerOptions,
    ...quotaOptions,
    path: {
      kind: 'text',
      value: 'PATH',
      summary: 'A directory below that of PARENT (default: that of PARENT)',
    },
    checkpoint: { kind: 'text', value: 'CHECKPOINT', summary: 'Same as --at' },
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
