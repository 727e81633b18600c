import { type Command, defineCommand } from '../../arguments/command.ts'
import { askStatus, requireRunning } from '../../mount/control.ts'
import { describeHealth, statusRows } from '../../mount/health.ts'
import { cliError } from '../../errors.ts'
import { formatTable } from '../../output/table.ts'

export const command: Command = defineCommand({
  summary: 'Show the state of a mount',
  description:
    'Shows what is not yet at the server, the lease, the cache, and the last error. It exits with 1 if the\n' +
    'mount does not work properly: its processes do not answer, or the server cannot be reached.',
  arguments: { directory: { summary: 'The mount point' } },
  options: {},
  examples: [
    { command: 'cairn mount status ./work', does: 'is everything at the server?' },
    { command: 'cairn mount status --json ./work', does: 'all of it, for a program' },
  ],
  async run({ args, cli }) {
    const state = await requireRunning(cli, args.directory)
    const status = await askStatus(cli, state)
    const health = describeHealth(status)
    if (cli.isJson)
      await cli.out.json({ ...state, cacheBytesMax: state.cacheBytes, ...status, ...health })
    else for (const line of formatTable(statusRows(state, status))) await cli.out.line(line)
    if (!health.healthy)
      throw cliError(
        'mount_unhealthy',
        `rely on the mount at ${state.mountPoint}`,
        health.verdict,
        'What was read before can be read; what is written is handed in when the server is back. See: cairn doctor.',
      )
    if (!cli.isJson) await cli.out.line(`healthy: ${health.verdict}`)
  },
})
