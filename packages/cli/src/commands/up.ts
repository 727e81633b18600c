import { join, resolve } from 'node:path'
import { type Command, defineCommand } from '../arguments/command.ts'
import type { Cli } from '../cli.ts'
import { type Started, startInBackground } from '../local/background.ts'
import { enterLocalServer } from '../local/enter.ts'
import { dataDirectory, downCommand } from '../local/running.ts'
import { stopServer } from '../local/stop.ts'
import { ensureMount, verifyMount } from '../mount/ensure.ts'
import { ensureWorkspace } from '../remote/ensure-workspace.ts'
import { connect } from '../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Get a directory that survives: a server on this machine, and a workspace mounted',
  description:
    'Starts what is not running yet: a server in the background with its data in ~/.cairn/data, the context local, the\n' +
    'workspace, and its mount. Again, also after a crash or a reboot, it brings the same files back. Ctrl-C while it\n' +
    'starts ends what it has started.',
  arguments: {
    directory: { summary: 'Where to mount the workspace; ~/cairn unless given', optional: true },
  },
  options: {
    workspace: {
      kind: 'text',
      short: 'w',
      value: 'NAME',
      summary: 'The workspace, made if it is missing; unless given that of the context, or default',
    },
    data: {
      kind: 'text',
      value: 'DIR',
      summary: 'Where the server keeps its data; ~/.cairn/data unless given',
    },
    listen: {
      kind: 'text',
      value: 'HOST:PORT',
      summary: 'Where the server listens, if it is started now; 127.0.0.1:7070 unless given',
    },
  },
  examples: [
    { command: 'cairn up', does: 'the workspace default in ~/cairn' },
    { command: 'cairn up ./work --workspace website', does: 'another one, elsewhere' },
  ],
  async run({ args, options, cli }) {
    const data = resolve(dataDirectory(cli.home, options.data))
    const directory = args.directory ?? join(cli.home, 'cairn')
    const words = options.listen === undefined ? [] : [`--listen=${options.listen}`]
    const server = await startInBackground(cli, data, words)
    try {
      await enter(cli, data, directory, server, options.workspace)
    } catch (error) {
      // What was running before is not this command's to end.
      if (!server.wasRunning) await stopServer({ signal: new AbortController().signal }, server)
      throw error
    }
  },
})

async function enter(
  cli: Cli,
  data: string,
  directory: string,
  { url: server, pid, wasRunning }: Started,
  wanted: string | undefined,
): Promise<void> {
  const { context, apiKey, workspace } = await enterLocalServer(cli, server, data, wanted)
  await ensureWorkspace(connect({ server, apiKey }), workspace, cli.signal)
  const { config, leftOperations } = await ensureMount(cli, directory, {
    context,
    workspace,
    'read-only': false,
    'allow-other': false,
  })
  const { mountPoint } = config
  await verifyMount(mountPoint, config.workspace)
  if (cli.isJson)
    return cli.out.json({
      server: { url: server, pid, data, wasRunning },
      context,
      workspace,
      mountPoint,
      leftOperations,
    })
  await cli.out.line(`${mountPoint} is the workspace ${workspace} of ${server}`)
  await cli.out.line(`see how it is: cairn status; end it: ${downCommand(cli, data)}`)
}
