import { type Command, defineCommand } from '../arguments/command.ts'
import { askMount } from '../mount/control.ts'

export const command: Command = defineCommand({
  summary: 'Bring everything to the server, then unmount',
  arguments: { directory: { summary: 'The mount point' } },
  options: {},
  examples: [{ command: 'cairn umount ./work', does: 'says what it waits for' }],
  async run({ args, cli }) {
    const status = await askMount(cli, args.directory, 'unmount')
    if (cli.isJson) await cli.out.json(status)
    else await cli.out.line(`unmounted ${args.directory}; everything is at the server`)
  },
})
