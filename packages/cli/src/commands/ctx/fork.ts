import { type Command, defineCommand } from '../../arguments/command.ts'
import { checkContextName, getContext, readConfig, writeConfig } from '../../context/config.ts'
import { usageError } from '../../errors.ts'
import { connect } from '../../remote/open.ts'
import { commandLine } from '../../output/shell-words.ts'

export const command: Command = defineCommand({
  summary: 'Make a workspace that starts from another, and a context for it',
  description:
    'Constant time, whatever its size: nothing is copied. From then on the two live apart. The new context has the server\n' +
    'and the key of the old one.',
  arguments: { name: { summary: 'What to call the new workspace and the new context' } },
  options: {
    from: {
      kind: 'text',
      value: 'NAME',
      summary: 'The context to start from, or a workspace of the current one; the current context',
    },
    workspace: {
      kind: 'text',
      short: 'w',
      value: 'NAME',
      summary: "The workspace to start from, instead of that context's own",
    },
    layer: { kind: 'text', value: 'REF', summary: 'Start from this layer; from main unless given' },
    at: { kind: 'text', value: 'CHECKPOINT', summary: 'Start from this point of it' },
  },
  examples: [
    { command: 'cairn ctx fork experiment --from prod', does: 'then: cairn ctx use experiment' },
    { command: 'cairn ctx fork replay --layer fix-auth-a --at tests-pass', does: 'from a point' },
  ],
  async run({ args, options: { from, workspace, layer, at }, cli }) {
    const name = checkContextName(args.name)
    const config = await readConfig(cli)
    const isContext = from !== undefined && config.contexts.has(from)
    const origin = isContext ? from : config.currentContext
    if (origin === undefined)
      throw usageError('fork', 'no context is current', 'Give --from NAME, see cairn ctx ls.')
    const context = getContext(config, origin)
    const source = workspace ?? (isContext ? undefined : from) ?? context.workspace
    if (source === undefined)
      throw usageError(`fork ${origin}`, 'it has no workspace of its own', 'Give --workspace NAME.')
    const { server, apiKey } = context
    const credentials = { server, apiKey, source: '', context: origin, workspace: source }
    const { workspaces } = connect(credentials)
    const fork = await workspaces.fork(source, name, { layer, at, signal: cli.signal })
    const contexts = new Map([...config.contexts, [name, { ...context, workspace: name }]])
    await writeConfig(cli, { ...config, contexts })
    if (cli.isJson) return cli.out.json({ ...fork, context: name, from: source })
    await cli.out.line(`made workspace ${fork.name} from ${source}, and the context ${name}`)
    await cli.out.line(commandLine`next: cairn ctx use ${name}`)
  },
})
