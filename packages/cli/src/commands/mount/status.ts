import { type Command, defineCommand } from '../../arguments/command.ts'
import { askMount } from '../../mount/control.ts'

export const command: Command = defineCommand({
  summary: 'Tell how a mount is',
  description: 'What is not yet at the server, the lease, the cache, and the last error.',
  arguments: { directory: { summary: 'The mount point' } },
  options: {},
  examples: [{ command: 'cairn mount status ./work', does: 'is everything at the server?' }],
  async run({ args, cli }) {
    const status = await askMount(cli, args.directory, 'status')
    if (cli.isJson) return cli.out.json(status)
    for (const [name, value] of Object.entries(status))
      await cli.out.line(`${name}: ${Array.isArray(value) ? (value.at(-1) ?? 'none') : value}`)
  },
})
