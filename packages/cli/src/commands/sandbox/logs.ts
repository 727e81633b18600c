import { type Command, defineCommand } from '../../arguments/command.ts'
import { formatName } from '../../output/format.ts'
import { asking, findSandboxes, sandboxOptions } from '../../sandbox/open.ts'

export const command: Command = defineCommand({
  summary: 'Print what ran in a sandbox, and what it printed',
  description:
    'A local server keeps the last megabyte of each sandbox, for a week after its end. With -f, it prints new entries as they arrive, and ends when the sandbox does.',
  arguments: { id: { summary: 'The sandbox; it may have ended' } },
  options: {
    ...sandboxOptions,
    follow: { kind: 'flag', short: 'f', summary: 'Wait for new entries' },
  },
  examples: [
    { command: 'cairn sandbox logs i3f9k2m1q8', does: 'all that is kept' },
    {
      command: 'cairn sandbox logs i3f9k2m1q8 -f --json',
      does: 'as entries arrive, for a program',
    },
  ],
  async run({ args: { id }, options, cli }) {
    const { followSandboxLogs, readSandboxLogs } = await import('@cairn/sandbox')
    const connection = await findSandboxes(cli, options.data)
    if (!options.follow) await cli.out.page()
    const entries = options.follow
      ? followSandboxLogs(connection, id, cli.signal)
      : readSandboxLogs(connection, id)
    await asking(`read the logs of the sandbox ${id}`, async () => {
      for await (const { timestamp, level, message, fields } of entries) {
        if (cli.isJson) await cli.out.json({ timestamp, level, message, fields })
        else
          for (const line of message.split('\n'))
            await cli.out.line(`${timestamp}  ${formatName(line, cli.out.isTerminal)}`)
        if (options.follow) await cli.out.flush()
      }
    })
  },
})
