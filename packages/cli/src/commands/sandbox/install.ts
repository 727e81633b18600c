import { type Command, defineCommand } from '../../arguments/command.ts'
import { asking, openSandboxes, sandboxOptions } from '../../sandbox/open.ts'

export const command: Command = defineCommand({
  summary: 'Put cairn into a running sandbox',
  description:
    'Installs one file, /usr/local/bin/cairn. The sandbox needs Node 22 or newer, and FUSE to mount.',
  arguments: { id: { summary: 'The sandbox' } },
  options: sandboxOptions,
  examples: [{ command: 'cairn sandbox install i3f9k2m1q8', does: 'then cairn runs in it' }],
  async run({ args: { id }, options, cli }) {
    const { installCairn } = await import('@cairn/sandbox')
    const { Sandbox } = await openSandboxes(cli, options.data)
    await asking(`install cairn in the sandbox ${id}`, async () =>
      installCairn(await Sandbox.connect(id)),
    )
    if (cli.isJson) await cli.out.json({ sandboxId: id, installed: true })
    else await cli.out.line(`cairn is installed in sandbox ${id}`)
  },
})
