import type { BranchId } from '@cairn/protocol'
import type { LogRow } from '../ports/log-store.ts'
import type { Stores } from '../ports/stores.ts'
import { decodeBatch } from './batch.ts'
import { encodeReference, hashOfRow } from './reference.ts'

/** A transaction of this many is over soon: writers wait behind it. */
const rowsAtOnce = 64

/**
 * Content that a fold has stored need not stand in the log as well: rows up to the newest fold that is written down are
 * left with its name. Nobody replays them any more; who changed what, and the chain, stay as they are. `step` is asked
 * after each few rows, so that others get their turn. Gives how far it came.
 */
export async function trimLog(
  { log, refs, nodes }: Pick<Stores, 'log' | 'refs' | 'nodes'>,
  branch: BranchId,
  step: () => Promise<void> | void = () => {},
): Promise<number> {
  const { folded } = await refs.getBranch(branch)
  let seq = await log.trimmedTo(branch)
  while (seq < folded.seq) {
    const rows = await log.read(branch, seq, Math.min(rowsAtOnce, folded.seq - seq))
    const last = rows.at(-1)
    if (!last) return seq
    await log.trim(
      branch,
      last.seq,
      rows.flatMap((row) => trimmed(row, nodes.hash)),
    )
    seq = last.seq
    await step()
  }
  return seq
}

/** Nothing, where nothing is to be saved. What is damaged stays as it is, to be found. */
function trimmed(row: LogRow, hash: Stores['nodes']['hash']): readonly LogRow[] {
  if (hashOfRow(row.bytes, hash) !== row.hash || hash(row.bytes) === row.hash) return []
  return [{ ...row, bytes: encodeReference(decodeBatch(row.bytes), hash) }]
}
