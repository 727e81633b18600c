import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { usageError } from '../../errors.ts'
import { layerName } from '../../layers/format.ts'
import { parseTimeout } from '../../mount/duration.ts'
import { commandLine } from '../../output/shell-words.ts'
import { parseRemote } from '../../remote/location.ts'
import { openWorkspace } from '../../remote/open.ts'
import { warmKey } from '../../warm/key.ts'
import { startWarm } from '../../warm/warm.ts'

export const command: Command = defineCommand({
  summary: 'Get a layer in which a command has already run',
  description:
    'The key is the hash of the key files, the command and the type of machine. If no result with this key\n' +
    'exists, the command runs in a new layer, and the result is kept. If one exists, you get a layer with the\n' +
    'result at once, without running the command. In both cases the layer also has the newest source.',
  arguments: { command: { summary: 'The command and its arguments, after --', many: true } },
  options: {
    ...workspaceOptions,
    'key-file': {
      kind: 'list',
      value: 'FILE',
      summary: 'A file that determines the result: a local one, or :/path in the workspace',
    },
    path: { kind: 'text', value: 'PATH', summary: 'Directory of the layer (default: /)' },
    name: { kind: 'text', value: 'NAME', summary: 'Call the layer so' },
    timeout: { kind: 'text', value: 'D', summary: 'Stop the command after this time: 30s, 5m' },
  },
  examples: [
    {
      command: 'cairn ws warm --key-file package-lock.json -- npm ci',
      does: 'the second sandbox gets its dependencies at once',
    },
    {
      command:
        'cairn ws warm --key-file :/repo/Cargo.lock --path /repo --name fix-a -- cargo fetch',
      does: 'as the layer fix-a of /repo',
    },
  ],
  async run({ args: { command: words }, options, cli }) {
    if (options['key-file'].length === 0)
      throw usageError('start warm', 'no key file is given', 'Give one: --key-file FILE.')
    const workspace = await openWorkspace(cli, options)
    const { path } = parseRemote(`:${(options.path ?? '/').replace(/^:/, '')}`)
    const key = await warmKey(cli, options, options['key-file'], [path, ...words])
    const wish = {
      words,
      values: options,
      sandbox: 'none',
      // An installation writes most files of the layer.
      isCopied: true,
      after: 'keep',
      timeoutMs: parseTimeout(options.timeout),
      env: {},
    } as const
    const { name } = options
    const { layer, isHit, isCurrent } = await startWarm(cli, workspace.layers, {
      key,
      path,
      name,
      wish,
    })
    if (cli.isJson) return cli.out.json({ ...layer, key, isHit, isCurrent })
    const called = layerName(layer)
    const how = isHit ? 'the command ran before' : 'the command ran now, and will not run again'
    await cli.out.line(`layer ${called} is warm: ${how} (key ${key})`)
    if (!isCurrent)
      await cli.out.line(
        commandLine`it conflicts with the newest state; see: cairn fs layer status ${called}`,
      )
    await cli.out.line(commandLine`next: cairn mount --layer ${called} :${path} DIRECTORY`)
  },
})
