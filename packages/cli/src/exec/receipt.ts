import type { CheckpointInfo, CommitReceipt, LayerChange, LayerInfo } from '@cairn/sdk'
import type { Cli } from '../cli.ts'
import { countPaths, formatChange, layerName } from '../layers/format.ts'
import { commandLine } from '../output/shell-words.ts'

/** What a command did to a layer. */
export interface ExecReceipt {
  readonly layer: string
  readonly name?: string
  readonly path: string
  readonly exitCode: number
  readonly timedOut: boolean
  /** How the layer was shown to the command. */
  readonly place: 'mount' | 'copy' | 'local' | 'e2b'
  /** The layer as the command left it. */
  readonly checkpoint: string
  /** What the layer changed since its base. */
  readonly changes: readonly LayerChange[]
  /** Numbers of the layer's log: what the command did came after the first, up to the second. */
  readonly log: { readonly after: number; readonly to: number }
  /** What the log calls it. */
  readonly toolCall: string
  readonly commit?: CommitReceipt
  readonly discarded: boolean
  readonly durationMs: number
}

export interface ReceiptParts extends Omit<
  ExecReceipt,
  'layer' | 'name' | 'path' | 'checkpoint' | 'log'
> {
  readonly layerInfo: LayerInfo
  readonly made: CheckpointInfo
  readonly after: number
}

export function receiptOf({ layerInfo, made, after, ...rest }: ReceiptParts): ExecReceipt {
  const { id, name, path } = layerInfo
  return {
    layer: id,
    ...(name === undefined ? {} : { name }),
    path,
    ...rest,
    checkpoint: made.id,
    log: { after, to: made.seq },
  }
}

const changesShown = 20

/** On the error output: the other one is the command's. A command that failed ends this process without a flush. */
export async function tellReceipt(cli: Cli, receipt: ExecReceipt): Promise<void> {
  await tell(cli, receipt)
  await cli.out.flush()
}

async function tell(cli: Cli, receipt: ExecReceipt): Promise<void> {
  if (cli.isJson) return cli.out.json(receipt)
  const { changes, commit, discarded, checkpoint, exitCode, timedOut } = receipt
  const layer = layerName({ id: receipt.layer, ...(receipt.name ? { name: receipt.name } : {}) })
  const { err } = cli
  const how = timedOut ? 'was stopped after its time' : `ended with ${exitCode}`
  await err.line(
    `\nthe command ${how}; layer ${layer} changes ${countPaths(changes.length)}; checkpoint ${checkpoint}`,
  )
  for (const change of changes.slice(0, changesShown))
    await err.line(formatChange(change, err.isTerminal))
  if (changes.length > changesShown) await err.line(`… ${changes.length - changesShown} more`)
  if (commit) await err.line(`committed to ${commit.target}`)
  else if (discarded) await err.line('discarded')
  else
    await err.line(
      commandLine`next: cairn fs layer commit ${layer}, or cairn fs layer diff ${layer} --patch`,
    )
}
