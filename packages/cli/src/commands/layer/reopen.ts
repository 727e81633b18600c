import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { openWorkspace } from '../../remote/open.ts'
import { commandLine } from '../../output/shell-words.ts'

export const command: Command = defineCommand({
  summary: 'Bring an abandoned layer back',
  description: 'A committed layer cannot be reopened: create a new one.',
  arguments: { layer: { summary: 'Id, name or tag of a layer, or a checkpoint' } },
  options: workspaceOptions,
  examples: [{ command: 'cairn fs layer reopen fix-auth-b', does: 'continue with it' }],
  async run({ args: { layer }, options, cli }) {
    const { layers } = await openWorkspace(cli, options)
    const info = await layers.reopen(layer, { signal: cli.signal })
    if (cli.isJson) return cli.out.json(info)
    await cli.out.line(`reopened ${layer}`)
    await cli.out.line(commandLine`next: cairn fs layer status ${layer}`)
  },
})
