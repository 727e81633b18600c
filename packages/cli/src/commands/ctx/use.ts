import { type Command, defineCommand } from '../../arguments/command.ts'
import { getContext, readConfig, writeConfig } from '../../context/config.ts'

export const command: Command = defineCommand({
  summary: 'Make a saved context the current one',
  arguments: { name: { summary: 'The context' } },
  options: {
    workspace: {
      kind: 'text',
      short: 'w',
      value: 'NAME',
      summary: 'Also set the workspace that commands use when they name none',
    },
  },
  examples: [
    { command: 'cairn ctx use prod', does: 'from now on' },
    { command: 'cairn ctx use prod --workspace website', does: 'and with this workspace' },
  ],
  async run({ args: { name }, options: { workspace }, cli }) {
    const config = await readConfig(cli)
    const context = getContext(config, name)
    const changed = workspace === undefined ? context : { ...context, workspace }
    const contexts = new Map([...config.contexts, [name, changed]])
    await writeConfig(cli, { currentContext: name, contexts })
    const { server } = changed
    const inside = changed.workspace === undefined ? '' : `, workspace ${changed.workspace}`
    if (cli.isJson) await cli.out.json({ name, server, workspace: changed.workspace })
    else await cli.out.line(`using context ${name}: ${server}${inside}`)
  },
})
