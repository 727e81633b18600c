import { type Command, defineCommand } from '../../arguments/command.ts'
import { cliError } from '../../errors.ts'
import { asking, openSandboxes, sandboxOptions } from '../../sandbox/open.ts'

export const command: Command = defineCommand({
  summary: 'Kill sandboxes; files outside a workspace are lost',
  arguments: { ids: { summary: 'Ids of the sandboxes', many: true } },
  options: sandboxOptions,
  examples: [{ command: 'cairn sandbox kill i3f9k2m1q8', does: 'one of cairn sandbox ls' }],
  async run({ args: { ids }, options, cli }) {
    const { Sandbox } = await openSandboxes(cli, options.data)
    for (const id of ids) {
      const what = `end the sandbox ${id}`
      const wasThere = await asking(what, () => Sandbox.kill(id))
      if (!wasThere)
        throw cliError('sandbox_failed', what, 'there is none', 'See: cairn sandbox ls.')
      if (cli.isJson) await cli.out.json({ sandboxId: id, killed: true })
      else await cli.out.line(`ended sandbox ${id}`)
    }
  },
})
