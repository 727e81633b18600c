import { type Command, defineCommand } from '../arguments/command.ts'
import { version } from '../version.ts'

export const command: Command = defineCommand({
  summary: 'Print the version',
  arguments: {},
  options: {},
  examples: [{ command: 'cairn version', does: 'same as cairn --version' }],
  async run({ cli }) {
    if (cli.isJson) await cli.out.json({ version, node: process.versions.node })
    else await cli.out.line(version)
  },
})
