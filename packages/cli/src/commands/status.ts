import { resolve } from 'node:path'
import { type Command, defineCommand } from '../arguments/command.ts'
import type { Cli } from '../cli.ts'
import { readConfig } from '../context/config.ts'
import { dataDirectory, findRunning, logPath } from '../local/running.ts'
import { describeSource } from '../mount/describe.ts'
import { type ListedMount, listMounts } from '../mount/find-mount.ts'
import { formatName } from '../output/format.ts'
import { formatTable } from '../output/table.ts'

export const command: Command = defineCommand({
  summary: 'Show the server of this machine, the current context, and your mounts',
  description:
    'Looks at this machine only. For one mount, run: cairn mount status DIRECTORY. To test everything, run:\n' +
    'cairn doctor.',
  arguments: {},
  options: {
    data: {
      kind: 'text',
      value: 'DIR',
      summary: 'Data directory of the server (default: ~/.cairn/data)',
    },
  },
  examples: [
    { command: 'cairn status', does: 'what cairn up has started' },
    { command: 'cairn status --json', does: 'for a program' },
  ],
  async run({ options, cli }) {
    const data = resolve(dataDirectory(cli.home, options.data))
    const running = findRunning(data)
    const { currentContext, contexts } = await readConfig(cli)
    const current = currentContext === undefined ? undefined : contexts.get(currentContext)
    const mounts = listMounts(cli)
    if (cli.isJson)
      return cli.out.json({
        server: running && { url: running.url, pid: running.pid, data, log: logPath(data) },
        context: current && {
          name: currentContext,
          server: current.server,
          workspace: current.workspace,
        },
        mounts: mounts.map(({ mountPoint, server, workspace, path, isRunning }) => ({
          mountPoint,
          server,
          workspace,
          path,
          isRunning,
        })),
      })
    const rows = [
      [
        'server',
        running
          ? `${running.url}, process ${running.pid}, data in ${data}`
          : 'none is running; start one with: cairn up',
      ],
      [
        'context',
        current
          ? `${currentContext}: ${current.server}, workspace ${current.workspace ?? 'none'}`
          : 'none is saved',
      ],
      ...(mounts.length === 0
        ? [['mounts', 'none']]
        : mounts.map((mount, at) => [at === 0 ? 'mounts' : '', describe(cli, mount)])),
    ]
    for (const line of formatTable(rows)) await cli.out.line(line)
  },
})

function describe({ out }: Cli, mount: ListedMount): string {
  const how = mount.isRunning ? '' : `; its processes were killed, see: cairn mount status`
  return `${formatName(mount.mountPoint, out.isTerminal)} is ${formatName(describeSource(mount), out.isTerminal)}${how}`
}
