import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LayerInfo } from '@cairn/sdk'
import type { Cli } from '../cli.ts'
import { mayMount } from '../mount/early-start.ts'
import { openRemote, type WorkspaceValues } from '../remote/open.ts'
import { isCairnError } from '@cairn/protocol'
import { openCopy } from './copy-place.ts'
import { openMount } from './mount-place.ts'
import { type ExecReceipt, receiptOf } from './receipt.ts'
import { type ChildOptions, type ChildResult, runChild } from './run-child.ts'
import { runInSandbox } from './run-in-sandbox.ts'
import type { WorkPlace } from './work-place.ts'

export interface ExecWish {
  readonly words: readonly string[]
  readonly values: WorkspaceValues
  readonly sandbox: 'none' | 'local' | 'e2b'
  /** For a machine at E2B: its template, and where it reaches the server. */
  readonly e2b?: { readonly template?: string; readonly serverInside?: string }
  /** Works on a copy even where the layer could be mounted. */
  readonly isCopied: boolean
  readonly after: 'commit' | 'keep' | 'discard'
  readonly timeoutMs: number | undefined
  readonly env: Readonly<Record<string, string>>
  readonly onOutput?: ChildOptions['onOutput']
}

/** What opens Cairn: a command that works in a layer need not be able to reach the rest. */
const credentials = /^(?:CAIRN|DRIVE9)_(?:API_KEY|VAULT_TOKEN|MASTER_KEY)$/

/** Runs a command in a layer, remembers the result as a checkpoint, and commits or discards it as wished. */
export async function runInLayer(
  outer: Cli,
  layer: LayerInfo,
  wish: ExecWish,
): Promise<ExecReceipt> {
  const began = performance.now()
  const toolCall = outer.env['CAIRN_TOOL_CALL'] || `exec-${randomBytes(6).toString('hex')}`
  const cli = inCall(outer, toolCall)
  const { workspace } = await openRemote(cli, wish.values, ':/')
  const { layers } = workspace
  const after = (await layers.status(layer.id, { signal: cli.signal })).head.seq
  const { result, place } = await runThere(cli, layer, wish)
  // What the command did is kept even when it was stopped.
  const made = await layers.checkpoint(layer.id)
  const changes = await layers.diff(layer.id, { stat: true })
  const isRight = result.exitCode === 0 && !cli.signal.aborted
  const message = `cairn exec: ${wish.words.join(' ')}`.slice(0, 1000)
  const commit =
    wish.after === 'commit' && isRight
      ? await layers.commit(layer.id, { message, merge: true })
      : undefined
  const discarded = wish.after === 'discard'
  if (discarded) await layers.abandon(layer.id)
  const durationMs = Math.round(performance.now() - began)
  return receiptOf({
    layerInfo: layer,
    made,
    after,
    ...result,
    place,
    changes,
    toolCall,
    discarded,
    durationMs,
    ...(commit ? { commit } : {}),
  })
}

async function runThere(
  cli: Cli,
  layer: LayerInfo,
  wish: ExecWish,
): Promise<{ result: ChildResult; place: ExecReceipt['place'] }> {
  const { sandbox, timeoutMs, onOutput } = wish
  const env = {
    ...withoutCredentials(cli.env),
    CAIRN_LAYER: layer.id,
    ...wish.env,
  }
  if (sandbox !== 'none')
    return { result: await runInSandbox(cli, layer, { ...wish, sandbox }), place: sandbox }
  const place = await openPlace(unhurried(cli), layer, wish)
  try {
    const options = { cwd: place.directory, env, timeoutMs, onOutput, signal: cli.signal }
    const result = await runChild(wish.words, { ...options, isJson: cli.isJson })
    await place.finish()
    return { result, place: place.kind }
  } finally {
    await place.remove()
  }
}

async function openPlace(cli: Cli, layer: LayerInfo, wish: ExecWish): Promise<WorkPlace> {
  const directory = join(tmpdir(), `cairn-exec-${randomBytes(6).toString('hex')}`)
  const values = { ...wish.values, layer: layer.id }
  const remote = await openRemote(cli, values, `:${layer.path}`)
  await remote.files.mkdir(layer.path, { parents: true })
  if (wish.isCopied || !mayMount()) return openCopy(cli, directory, remote)
  try {
    return await openMount(cli, directory, layer, values)
  } catch (error) {
    if (!isCairnError(error) || error.code !== 'mount_failed') throw error
    return openCopy(cli, directory, remote)
  }
}

/** Everything that is done for the command belongs to this call. */
function inCall(cli: Cli, toolCall: string): Cli {
  const env = { ...cli.env, CAIRN_TOOL_CALL: toolCall }
  return Object.create(cli, { env: { value: env } }) as Cli
}

/** Ctrl-C ends the command, and not the work of bringing back what it did. */
function unhurried(cli: Cli): Cli {
  return Object.create(cli, { signal: { value: new AbortController().signal } }) as Cli
}

function withoutCredentials(env: Cli['env']): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !credentials.test(name)))
}
