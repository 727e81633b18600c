import type { LayerInfo } from '@cairn/sdk'
import { randomBytes } from 'node:crypto'
import { type Command, defineCommand } from '../arguments/command.ts'
import type { Cli } from '../cli.ts'
import { workspaceOptions } from '../context/credentials.ts'
import { ChildEnded, usageError } from '../errors.ts'
import { runAttempts } from '../exec/attempts.ts'
import { tellReceipt } from '../exec/receipt.ts'
import { type ExecWish, runInLayer } from '../exec/run-in-layer.ts'
import { parseTimeout } from '../mount/duration.ts'
import { parseRemote } from '../remote/location.ts'
import { openWorkspace, type WorkspaceValues } from '../remote/open.ts'

const attemptsMax = 20

export const command: Command = defineCommand({
  summary: 'Run a command in a layer of a workspace',
  description:
    'Creates or opens a layer, mounts it, runs the command in it, makes a checkpoint, and prints what changed.\n' +
    'Without FUSE, or with --copy, it works on a copy and copies the changes back. With --commit, the layer is\n' +
    'committed if the command succeeds. With --sandbox, the sandbox mounts the layer. The command does not get\n' +
    'your key. The exit code is that of the command, or 124 after --timeout. With --json, standard output has\n' +
    'the receipt, and standard error has the output of the command.',
  arguments: { command: { summary: 'The command and its arguments, after --', many: true } },
  options: {
    ...workspaceOptions,
    layer: { kind: 'text', value: 'REF', summary: 'Work in this layer' },
    'new-layer': { kind: 'flag', summary: 'Create a layer (default without --layer)' },
    name: { kind: 'text', value: 'NAME', summary: 'Name of the new layer' },
    path: {
      kind: 'text',
      value: 'PATH',
      summary: 'Directory of the new layer (default: /)',
    },
    sandbox: {
      kind: 'choice',
      choices: ['none', 'local', 'e2b'],
      summary: 'Where to run: here, in a local jail, or at E2B (default: none)',
    },
    template: { kind: 'text', value: 'NAME', summary: 'Template of the E2B machine' },
    'server-inside': {
      kind: 'text',
      value: 'URL',
      summary: 'Address at which the E2B machine reaches the Cairn server',
    },
    copy: { kind: 'flag', summary: 'Work on a local copy of the layer, not in a mount' },
    commit: { kind: 'flag', summary: 'Commit the layer if the command succeeds' },
    keep: { kind: 'flag', summary: 'Keep the layer (default)' },
    discard: { kind: 'flag', summary: 'Abandon the layer afterwards' },
    timeout: { kind: 'text', value: 'D', summary: 'Stop the command after this time: 30s, 5m' },
    env: { kind: 'list', value: 'NAME=VALUE', summary: 'Environment variable for the command' },
    attempts: {
      kind: 'count',
      value: 'N',
      summary: 'Run the command in N new layers at once, and compare the results',
    },
  },
  examples: [
    {
      command: 'cairn exec --commit -- npm test',
      does: 'commit the changes if the command succeeds',
    },
    { command: 'cairn exec --layer fix-auth-a -- make', does: 'in an existing layer' },
    { command: 'cairn exec --sandbox local --timeout 5m -- ./build.sh', does: 'in a jail' },
    {
      command: "cairn exec --attempts 5 -- sh -c './agent.sh $CAIRN_ATTEMPT'",
      does: 'five attempts at once',
    },
  ],
  async run({ args, options, cli }) {
    const wish = wishOf(args.command, options)
    const { attempts } = options
    if (attempts !== undefined) {
      const layers = await makeLayers(cli, options, attempts, wish)
      const receipts = await runAttempts(cli, layers, wish)
      cli.signal.throwIfAborted()
      if (receipts.every(({ exitCode }) => exitCode !== 0))
        throw new ChildEnded(receipts[0]!.exitCode)
      return
    }
    const receipt = await runInLayer(cli, await openLayer(cli, options), wish)
    await tellReceipt(cli, receipt)
    if (receipt.exitCode !== 0) throw new ChildEnded(receipt.exitCode)
  },
})

interface Values extends WorkspaceValues {
  readonly 'new-layer': boolean
  readonly name: string | undefined
  readonly path: string | undefined
}

interface WishValues extends Values {
  readonly sandbox: ExecWish['sandbox'] | undefined
  readonly template: string | undefined
  readonly 'server-inside': string | undefined
  readonly copy: boolean
  readonly commit: boolean
  readonly keep: boolean
  readonly discard: boolean
  readonly timeout: string | undefined
  readonly env: readonly string[]
}

function wishOf(words: readonly string[], options: WishValues): ExecWish {
  const { copy, commit, keep, discard, sandbox = 'none', layer: _, ...values } = options
  const { template, 'server-inside': serverInside } = options
  if (sandbox !== 'e2b' && (template ?? serverInside) !== undefined)
    throw usageError(
      'choose a machine at E2B',
      'the command does not run there',
      'Add --sandbox e2b, or leave out --template and --server-inside.',
    )
  if ([commit, keep, discard].filter(Boolean).length > 1)
    throw usageError('end the layer', 'two ways are given', 'Give --commit, --keep or --discard.')
  return {
    words,
    values,
    sandbox,
    e2b: {
      ...(template === undefined ? {} : { template }),
      ...(serverInside === undefined ? {} : { serverInside }),
    },
    isCopied: copy,
    after: commit ? 'commit' : discard ? 'discard' : 'keep',
    timeoutMs: parseTimeout(options.timeout),
    env: parseEnv(options.env),
  }
}

function parseEnv(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, name, value] = /^([A-Za-z_]\w*)=([^]*)$/.exec(text) ?? []
      if (name !== undefined && value !== undefined) return [name, value]
      throw usageError(`set the variable ${text}`, 'it is not NAME=VALUE', 'Give NAME=VALUE.')
    }),
  )
}

async function openLayer(cli: Cli, options: Values): Promise<LayerInfo> {
  const { layer, ...values } = options
  if (layer === undefined) return makeLayer(cli, options, options.name)
  if (options['new-layer'] || options.name !== undefined || options.path !== undefined)
    throw usageError(
      'use --layer',
      'it is there already',
      'Leave out --new-layer, --name and --path.',
    )
  const { layers } = await openWorkspace(cli, values)
  return layers.status(layer, { signal: cli.signal })
}

async function makeLayers(
  cli: Cli,
  options: Values,
  count: number,
  { after }: ExecWish,
): Promise<LayerInfo[]> {
  const what = `run ${count} attempts`
  if (count < 1 || count > attemptsMax)
    throw usageError(what, `between 1 and ${attemptsMax} can run`, 'Give another number.')
  if (options.layer !== undefined || after === 'commit')
    throw usageError(
      what,
      'each has a layer of its own, and you choose one afterwards',
      'Leave out --layer and --commit; then: cairn fs layer pick NAME.',
    )
  const name = options.name ?? `exec-${randomBytes(4).toString('hex')}`
  const layers: LayerInfo[] = []
  for (let index = 1; index <= count; index++)
    layers.push(await makeLayer(cli, options, `${name}-${index}`))
  return layers
}

async function makeLayer(cli: Cli, options: Values, name: string | undefined): Promise<LayerInfo> {
  const { layers } = await openWorkspace(cli, { ...options, layer: undefined })
  const { path } = parseRemote(`:${(options.path ?? '/').replace(/^:/, '')}`)
  return layers.create(path, { name, tags: { by: 'exec' }, signal: cli.signal })
}
