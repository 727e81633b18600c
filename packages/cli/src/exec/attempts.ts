import type { LayerInfo } from '@cairn/sdk'
import type { Cli } from '../cli.ts'
import { countPaths } from '../layers/format.ts'
import { commandLine } from '../output/shell-words.ts'
import type { ExecReceipt } from './receipt.ts'
import { type ExecWish, runInLayer } from './run-in-layer.ts'

/** Runs the command in each of these layers at the same time, and shows what each of them did. */
export async function runAttempts(
  cli: Cli,
  layers: readonly LayerInfo[],
  wish: ExecWish,
): Promise<readonly ExecReceipt[]> {
  const running = layers.map((layer, index) => {
    const env = { ...wish.env, CAIRN_ATTEMPT: String(index + 1) }
    const onOutput = prefixed(cli, `[${index + 1}] `)
    return runInLayer(cli, layer, { ...wish, env, onOutput })
  })
  const settled = await Promise.allSettled(running)
  const failed = settled.find((one) => one.status === 'rejected')
  if (failed) throw failed.reason
  const receipts = settled.map((one) => (one as PromiseFulfilledResult<ExecReceipt>).value)
  await tellAttempts(cli, receipts)
  await cli.out.flush()
  return receipts
}

/** Whole lines, so that those of several attempts do not mix. */
function prefixed(cli: Cli, prefix: string): NonNullable<ExecWish['onOutput']> {
  const rests = { stdout: '', stderr: '' }
  return (text, from) => {
    const lines = (rests[from] + text).split('\n')
    rests[from] = lines.pop() ?? ''
    const out = from === 'stdout' && !cli.isJson ? cli.out : cli.err
    for (const line of lines) void out.line(prefix + line).catch(() => {})
  }
}

async function tellAttempts(cli: Cli, receipts: readonly ExecReceipt[]): Promise<void> {
  if (cli.isJson) {
    for (const receipt of receipts) await cli.out.json(receipt)
    return
  }
  for (const [index, { name, layer, exitCode, changes, durationMs }] of receipts.entries()) {
    const added = changes.reduce((sum, one) => sum + (one.added ?? 0), 0)
    const removed = changes.reduce((sum, one) => sum + (one.removed ?? 0), 0)
    await cli.err.line(
      `[${index + 1}] ${name ?? layer}  exit ${exitCode}  ${countPaths(changes.length)}  +${added} -${removed}  ${(durationMs / 1000).toFixed(1)} s`,
    )
  }
  const best = receipts.find(({ exitCode }) => exitCode === 0)
  if (best) await cli.err.line(commandLine`next: cairn fs layer pick ${best.name ?? best.layer}`)
}
