import type { BranchId } from '@cairn/protocol'
import type { Changes } from '../filesystem/changes.ts'
import type { Op } from '../filesystem/op.ts'
import type { LogRow } from '../ports/log-store.ts'
import type { Snapshot } from '../ports/records.ts'
import type { Steps } from '../tree/steps.ts'
import { decodeInSteps, genesis } from './batch.ts'
import { Head } from './head.ts'
import type { Stores } from './stores.ts'

const rowsAtOnce = 256
/** More in memory at once would be much of a large log. */
const pendingOpsMax = 20_000
const pendingBytesMax = 64 << 20

/** A tree that a branch had at a place in its log. */
export interface KnownTree {
  readonly seq: number
  readonly snapshot: Snapshot
}

/**
 * The tree that a branch had after the batch at `end`, from one that it had before. Stores it. Rejects with an errno where an
 * operation does not fit, and with `node_missing` or `blob_missing` where content was collected. `apply` may leave out
 * operations.
 */
export async function replay(
  { nodes, blobs, log }: Stores,
  branch: BranchId,
  { seq, snapshot }: KnownTree,
  end: number,
  apply?: (changes: Changes, op: Op) => void | Steps<void>,
): Promise<Snapshot> {
  const position = { seq, hash: genesis, epoch: 1, state: 'open' } as const
  const head = new Head(nodes, blobs, { ...position, snapshot })
  for await (const { bytes, hash } of rowsOf({ log }, branch, seq, end)) {
    const batch = await nodes.run(decodeInSteps(bytes))
    const { body } = batch
    await head.advance(
      batch,
      hash,
      body.type === 'ops' ? await head.plan(head.view, body.ops, apply) : undefined,
    )
    if (head.pendingOps > pendingOpsMax || head.pendingBytes > pendingBytesMax) await head.fold()
  }
  return (await head.fold()).snapshot
}

export async function* rowsOf(
  { log }: Pick<Stores, 'log'>,
  branch: BranchId,
  after: number,
  end: number,
): AsyncGenerator<LogRow> {
  for (let seq = after; seq < end;) {
    const rows = await log.read(branch, seq, Math.min(rowsAtOnce, end - seq))
    if (rows.length === 0) return
    yield* rows
    seq = rows.at(-1)!.seq
  }
}
