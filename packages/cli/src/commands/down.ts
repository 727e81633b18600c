import { resolve } from 'node:path'
import { type Command, defineCommand } from '../arguments/command.ts'
import type { Cli } from '../cli.ts'
import { cliError } from '../errors.ts'
import { findLast, findRunning, dataDirectory } from '../local/running.ts'
import { stopServer } from '../local/stop.ts'
import { type Ended, tellEnded, unmountAt } from '../mount/end.ts'
import { type ListedMount, listMounts } from '../mount/find-mount.ts'

export const command: Command = defineCommand({
  summary: "Unmount the workspaces of this machine's server, and stop the server",
  description:
    "Each mount first sends everything to the server. All files stay in the server's data directory; cairn up\n" +
    'mounts them again.',
  arguments: {},
  options: {
    data: {
      kind: 'text',
      value: 'DIR',
      summary: 'Data directory of the server (default: ~/.cairn/data)',
    },
    force: {
      kind: 'flag',
      short: 'f',
      summary:
        'Also unmount directories that are in use or cannot reach the server; unsent changes stay on this disk',
    },
  },
  examples: [
    { command: 'cairn down', does: 'then: cairn up' },
    { command: 'cairn down --data /srv/cairn', does: 'a server with another directory' },
  ],
  async run({ options, cli }) {
    const data = resolve(dataDirectory(cli.home, options.data))
    const mounts = mountsOf(cli, findLast(data)?.url)
    const running = findRunning(data)
    if (!running && !options.force && mounts.some(({ isRunning }) => isRunning))
      throw cliError(
        'not_drained',
        'end the mounts',
        'the server that they write to is not running',
        'Start it with: cairn up; or end them with: cairn down --force, which keeps their changes on this disk.',
      )
    const ended: Ended[] = []
    for (const { mountPoint } of mounts) {
      const end = { timeoutMs: undefined, isForced: options.force }
      ended.push(await unmountAt(cli, mountPoint, end))
      if (!cli.isJson) await tellEnded(cli, ended.at(-1)!)
    }
    if (running) await stopServer(cli, running)
    if (cli.isJson) return cli.out.json({ data, stopped: running?.url, mounts: ended })
    await cli.out.line(
      running
        ? `stopped the server at ${running.url}; its data stays in ${data}`
        : `no server is running on ${data}`,
    )
  },
})

function mountsOf(cli: Cli, url: string | undefined): ListedMount[] {
  return listMounts(cli).filter(({ server }) => server === url)
}
