import { type Command, defineCommand } from '../../arguments/command.ts'
import { handIn, requireRunning } from '../../mount/control.ts'
import { parseTimeout, timeoutOption } from '../../mount/duration.ts'

export const command: Command = defineCommand({
  summary: 'Wait until everything is at the server',
  description:
    'Waits for everything that was written before the command began. Programs can continue to write.',
  arguments: { directory: { summary: 'The mount point' } },
  options: { timeout: timeoutOption },
  examples: [
    { command: 'cairn mount drain ./work', does: 'before a sandbox is destroyed' },
    { command: 'cairn mount drain --timeout 30s ./work', does: 'fails when it takes longer' },
  ],
  async run({ args, options, cli }) {
    const timeoutMs = parseTimeout(options.timeout)
    const state = await requireRunning(cli, args.directory)
    const status = await handIn(cli, state, 'drain', { timeoutMs })
    if (cli.isJson) await cli.out.json(status)
    else await cli.out.line('everything is at the server')
  },
})
