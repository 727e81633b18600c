import { type Command, defineCommand } from '../../arguments/command.ts'
import { connectionOptions, findCredentials } from '../../context/credentials.ts'
import { formatQuota, parseQuota, quotaOptions } from '../../layers/quota.ts'
import { connect } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Limit how much a workspace may hold, or tell what it holds',
  description:
    'Holds for each tree of the workspace, main and layers alike. What would grow beyond is refused: programs in a mount\n' +
    'get EDQUOT. What is there stays, also when it is more. Counted is what has a name: bytes of content without holes,\n' +
    'before compression; files, directories, symlinks and the like.',
  arguments: { name: { summary: 'The workspace' } },
  options: { ...connectionOptions, ...quotaOptions },
  examples: [
    { command: 'cairn ws quota website --max-bytes 10GiB --max-files 100000', does: 'limit it' },
    { command: 'cairn ws quota website --max-files none', does: 'as many files as one likes' },
    { command: 'cairn ws quota website', does: 'what it holds' },
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
