import { type Command, defineCommand } from '../../arguments/command.ts'
import { connectionOptions, findCredentials } from '../../context/credentials.ts'
import { formatQuota, parseQuota, quotaOptions } from '../../layers/quota.ts'
import { connect } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Limit the size of a workspace, or show its size',
  description:
    'The limit applies to main and to each layer. Changes beyond it are refused: programs in a mount get\n' +
    'EDQUOT. Existing files stay, even if they exceed a new limit. The quota counts bytes of content without\n' +
    'holes, before compression, and the number of files, directories, symlinks and other entries.',
  arguments: { name: { summary: 'The workspace' } },
  options: { ...connectionOptions, ...quotaOptions },
  examples: [
    { command: 'cairn ws quota website --max-bytes 10GiB --max-files 100000', does: 'limit it' },
    { command: 'cairn ws quota website --max-files none', does: 'no limit on files' },
    { command: 'cairn ws quota website', does: 'show its size' },
  ],
  async run({ args: { name }, options, cli }) {
    const { workspaces } = connect(await findCredentials(cli, options))
    const quota = parseQuota(options)
    const isEdit = quota.maxBytes !== undefined || quota.maxFiles !== undefined
    const workspace = isEdit
      ? await workspaces.setQuota(name, { ...quota, signal: cli.signal })
      : await workspaces.get(name, { signal: cli.signal })
    if (cli.isJson) return cli.out.json(workspace)
    await cli.out.line(`${workspace.name}: ${formatQuota(workspace.quota, workspace.used)}`)
  },
})
