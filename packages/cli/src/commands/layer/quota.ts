import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { formatQuota, parseQuota, quotaOptions } from '../../layers/quota.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Limit how much a layer may add to its base, or show what it has added',
  description:
    'The quota of the workspace applies as well. Changes beyond a quota are refused: programs in a mount get\n' +
    'EDQUOT.',
  arguments: { layer: { summary: 'Id, name or tag of a layer, or a checkpoint' } },
  options: { ...workspaceOptions, ...quotaOptions },
  examples: [
    { command: 'cairn fs layer quota fix-auth-a --max-bytes 1GiB', does: 'limit it' },
    { command: 'cairn fs layer quota fix-auth-a', does: 'what it has added' },
  ],
  async run({ args: { layer }, options, cli }) {
    const { layers } = await openWorkspace(cli, options)
    const edit = parseQuota(options)
    const { signal } = cli
    if (edit.maxBytes !== undefined || edit.maxFiles !== undefined)
      await layers.update(layer, { ...edit, signal })
    const { id, quota, used } = await layers.status(layer, { signal })
    if (cli.isJson) return cli.out.json({ id, ...(quota && { quota }), used })
    await cli.out.line(`${layer}: ${formatQuota(quota, used)}`)
  },
})
