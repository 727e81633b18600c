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
  summary: 'Start a server on this machine and mount a workspace, in one command',
  description:
    'Starts what is not running yet: a server in the background with its data in ~/.cairn/data, the context\n' +
    'local, the workspace, and its mount. Run it again after a crash or a reboot, and the same files are\n' +
    'back. Ctrl-C stops what it has started.',
  arguments: {
    directory: { summary: 'Where to mount the workspace (default: ~/cairn)', optional: true },
  },
  options: {
    workspace: {
      kind: 'text',
      short: 'w',
      value: 'NAME',
      summary: 'The workspace, created if it is missing (default: that of the context, or default)',
    },
    data: {
      kind: 'text',
      value: 'DIR',
      summary: 'Data directory of the server (default: ~/.cairn/data)',
    },
    listen: {
      kind: 'text',
      value: 'HOST:PORT',
      summary: 'Address of a server that is started now (default: 127.0.0.1:7070)',
    },
  },
  examples: [
    { command: 'cairn up', does: 'the workspace default in ~/cairn' },
    {
      command: 'cairn up ./work --workspace website',
      does: 'another workspace in another directory',
    },
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
