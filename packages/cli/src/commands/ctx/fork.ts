import { type Command, defineCommand } from '../../arguments/command.ts'
import { checkContextName, getContext, readConfig, writeConfig } from '../../context/config.ts'
import { usageError } from '../../errors.ts'
import { connect } from '../../remote/open.ts'
import { commandLine } from '../../output/shell-words.ts'

export const command: Command = defineCommand({
  summary: 'Fork a workspace, and save a context for the fork',
  description:
    'A fork takes constant time, whatever the size of the workspace: nothing is copied. Later changes of one\n' +
    'do not affect the other. The new context has the server and the key of the old one.',
  arguments: { name: { summary: 'Name of the new workspace and of the new context' } },
  options: {
    from: {
      kind: 'text',
      value: 'NAME',
      summary:
        'Context to fork, or a workspace of the current context (default: the current context)',
    },
    workspace: {
      kind: 'text',
      short: 'w',
      value: 'NAME',
      summary: "Workspace to fork, instead of the context's own",
    },
    layer: { kind: 'text', value: 'REF', summary: 'Layer to fork (default: main)' },
    at: { kind: 'text', value: 'CHECKPOINT', summary: 'Checkpoint to fork' },
  },
  examples: [
    { command: 'cairn ctx fork experiment --from prod', does: 'then: cairn ctx use experiment' },
    {
      command: 'cairn ctx fork replay --layer fix-auth-a --at tests-pass',
      does: 'from a checkpoint',
    },
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
