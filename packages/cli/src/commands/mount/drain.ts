import { type Command, defineCommand } from '../../arguments/command.ts'
import { askMount } from '../../mount/control.ts'

export const command: Command = defineCommand({
  summary: 'Wait until everything is at the server',
  description: 'What was written before the call; programs may go on writing meanwhile.',
  arguments: { directory: { summary: 'The mount point' } },
  options: {},
  examples: [{ command: 'cairn mount drain ./work', does: 'before the sandbox goes away' }],
  async run({ args, cli }) {
    const status = await askMount(cli, args.directory, 'drain')
    if (cli.isJson) await cli.out.json(status)
    else await cli.out.line('everything is at the server')
  },
})
