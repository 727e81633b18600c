import { type Command, defineCommand } from '../arguments/command.ts'
import { renderHelp } from '../help/render-help.ts'
import { findInvocation } from '../program.ts'

export const command: Command = defineCommand({
  summary: 'Show the help of a command',
  arguments: { words: { summary: 'A command, or its first word', optional: true, many: true } },
  options: {},
  examples: [
    { command: 'cairn help', does: 'all commands' },
    { command: 'cairn help fs cp', does: 'same as cairn fs cp --help' },
  ],
  async run({ args: { words }, cli }) {
    // With the flag, so that a noun that is also a command means the noun.
    const { name } = findInvocation([...words, '--help'])
    const help = await renderHelp(name)
    if (cli.isJson) await cli.out.json({ name, help })
    else await cli.out.line(help)
  },
})
