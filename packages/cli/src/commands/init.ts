import { isToken } from '@cairn/protocol'
import { type Command, defineCommand } from '../arguments/command.ts'
import { connectionOptions, findCredentials } from '../context/credentials.ts'
import { usageError } from '../errors.ts'
import { connect } from '../remote/open.ts'
import { ensureMount, verifyMount } from '../mount/ensure.ts'
import { isForOthers, makeInitPlace } from '../mount/init-place.ts'
import { tellMounted } from '../mount/start.ts'
import { ensureWorkspace } from '../remote/ensure-workspace.ts'

export const command: Command = defineCommand({
  summary: 'Create a workspace if it is missing, mount it, and check the mount',
  description:
    'One command for a sandbox, without questions. Running it again is safe. A token cannot create a\n' +
    'workspace, so with a token it mounts the existing one. If only root may create DIR and sudo needs no\n' +
    'password, sudo creates it. In an E2B sandbox other users may use the mount, because E2B reads files as\n' +
    'root.',
  arguments: {},
  options: {
    ...connectionOptions,
    workspace: {
      kind: 'text',
      short: 'w',
      value: 'NAME',
      summary: 'The workspace (default: that of the context or the login)',
    },
    table: { kind: 'text', value: 'NAME', summary: 'Same as --workspace' },
    path: { kind: 'text', value: 'DIR', summary: 'Where to mount it; created if it is missing' },
    'read-only': { kind: 'flag', summary: 'Mount read-only' },
    'allow-other': { kind: 'flag', summary: 'Let other users use the mount, as permissions allow' },
  },
  examples: [
    { command: 'cairn init --workspace my-agent --path /mnt/data', does: 'then use /mnt/data' },
    { command: 'cairn init --table my_agent_data --path /mnt/data', does: 'same' },
  ],
  async run({ options, cli }) {
    const credentials = await findCredentials(cli, options)
    const workspace = nameOf(options) ?? credentials.workspace
    const { path: directory } = options
    if (!workspace || !directory)
      throw usageError(
        'initialise a workspace',
        `--${workspace ? 'path' : 'workspace'} is missing`,
        'Give --workspace NAME and --path DIR.',
      )
    const isMade =
      !isToken(credentials.apiKey) &&
      (await ensureWorkspace(connect(credentials), workspace, cli.signal))
    if (isMade && !cli.isJson) await cli.out.line(`made workspace ${workspace}`)
    makeInitPlace(directory)
    const allowOther = options['allow-other'] || isForOthers(cli)
    const wanted = { ...options, workspace, 'allow-other': allowOther }
    const mount = await ensureMount(cli, directory, wanted)
    await verifyMount(mount.config.mountPoint, mount.config.workspace)
    await tellMounted(cli, mount, directory)
  },
})

function nameOf({
  workspace,
  table,
}: {
  readonly workspace: string | undefined
  readonly table: string | undefined
}): string | undefined {
  if (workspace === undefined || table === undefined || workspace === table)
    return workspace ?? table
  throw usageError(
    `mount ${workspace} and ${table} at once`,
    '--workspace and --table mean the same',
    'Give one of them.',
  )
}
