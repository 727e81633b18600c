import type { LayerInfo } from '@cairn/sdk'
import { randomBytes } from 'node:crypto'
import { type Command, defineCommand } from '../arguments/command.ts'
import type { Cli } from '../cli.ts'
import { layerOptions } from '../context/credentials.ts'
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
    'Makes a layer, or opens one, copies it to a directory here, runs the command in it, copies the difference back, makes a\n' +
    'checkpoint, and prints what changed. With --commit the layer is committed if the command succeeds. A sandbox mounts the\n' +
    'layer instead. The command does not get the key. Ends as the command ends; 124 after --timeout. With --json the receipt\n' +
    "is on the standard output, and the command's output on the error output.",
  arguments: { command: { summary: 'The command and its arguments, after --', many: true } },
  options: {
    ...layerOptions,
    layer: { kind: 'text', value: 'REF', summary: 'Work in this layer' },
    'new-layer': { kind: 'flag', summary: 'Make a layer; so it is unless --layer is given' },
    name: { kind: 'text', value: 'NAME', summary: 'Call the new layer so' },
    path: {
      kind: 'text',
      value: 'PATH',
      summary: 'The directory of the new layer; / unless given',
    },
    sandbox: {
      kind: 'choice',
      choices: ['none', 'local', 'e2b'],
      summary: 'Run it here, in a jail of this machine, or at E2B; none unless given',
    },
    commit: { kind: 'flag', summary: 'Commit the layer if the command succeeds' },
    keep: { kind: 'flag', summary: 'Keep the layer; so it is unless told otherwise' },
    discard: { kind: 'flag', summary: 'Give the layer up afterwards' },
    timeout: { kind: 'text', value: 'D', summary: 'End the command after 30s, 5m and the like' },
    env: { kind: 'list', value: 'NAME=VALUE', summary: 'A variable for the command' },
    attempts: { kind: 'count', value: 'N', summary: 'Run it in N new layers at once, and compare' },
  },
  examples: [
    { command: 'cairn exec --commit -- npm test', does: 'what it writes is kept if it succeeds' },
    { command: 'cairn exec --layer fix-auth-a -- make', does: 'in an attempt that is there' },
    { command: 'cairn exec --sandbox local --timeout 5m -- ./build.sh', does: 'in a jail' },
    {
      command: "cairn exec --attempts 5 -- sh -c './agent.sh $CAIRN_ATTEMPT'",
      does: 'five at once',
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
  readonly commit: boolean
  readonly keep: boolean
  readonly discard: boolean
  readonly timeout: string | undefined
  readonly env: readonly string[]
}

function wishOf(words: readonly string[], options: WishValues): ExecWish {
  const { commit, keep, discard, sandbox = 'none', layer: _, ...values } = options
  if ([commit, keep, discard].filter(Boolean).length > 1)
    throw usageError('end the layer', 'two ways are given', 'Give --commit, --keep or --discard.')
  return {
    words,
    values,
    sandbox,
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
