import { type Command, defineCommand } from '../../arguments/command.ts'
import { getContext, readConfig, writeConfig } from '../../context/config.ts'
import { usageError } from '../../errors.ts'
import { confirm, yesOption } from '../../output/confirm.ts'

export const command: Command = defineCommand({
  summary: 'Remove a saved context',
  description:
    'The key stays valid at the server. To remove the current context, make another one current first.',
  arguments: { name: { summary: 'The context' } },
  options: { yes: yesOption },
  examples: [
    { command: 'cairn ctx rm old', does: 'asks first when it holds an owner key' },
    { command: 'cairn ctx rm old --yes', does: 'without asking' },
  ],
  async run({ args: { name }, options, cli }) {
    const config = await readConfig(cli)
    const { kind } = getContext(config, name)
    if (config.currentContext === name && config.contexts.size > 1)
      throw usageError(
        `forget the context ${name}`,
        'it is the current one',
        'Use another one first: cairn ctx use NAME.',
      )
    if (kind === 'owner')
      await confirm(cli, options.yes, `forget the context ${name} and its owner key`)
    const contexts = new Map(config.contexts)
    contexts.delete(name)
    const currentContext = config.currentContext === name ? undefined : config.currentContext
    await writeConfig(cli, { currentContext, contexts })
    if (cli.isJson) await cli.out.json({ name, removed: true })
    else await cli.out.line(`forgot context ${name}`)
  },
})
