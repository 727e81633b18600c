import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { importFromGit } from '../../git/exchange.ts'

export const command: Command = defineCommand({
  summary: 'Take commits of an export into a layer',
  description:
    'Pushes HEAD of a directory or a bundle of git into the layer, which is made if it is missing. The history must come\n' +
    'from an export of the workspace. To bring in another repository: cairn git clone.',
  arguments: {
    source: { summary: 'A working tree, a bare repository or a bundle of git' },
    layer: { summary: 'Name of the layer' },
  },
  options: { ...workspaceOptions },
  examples: [
    {
      command: 'cairn git import ./review fix-login',
      does: 'then: cairn fs layer commit fix-login',
    },
  ],
  async run({ args: { source, layer }, options, cli }) {
    await importFromGit(cli, options, { source, layer })
    if (cli.isJson) return cli.out.json({ layer })
    await cli.out.line(`pushed into the layer ${layer}`)
  },
})
