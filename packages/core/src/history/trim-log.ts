import type { BranchId } from '@cairn/protocol'
import type { HashFunction } from '../ports/hash.ts'
import type { LogRow } from '../ports/log-store.ts'
import type { Stores } from './stores.ts'
import type { Steps } from '../tree/steps.ts'
import { decodeInSteps } from './batch.ts'
import { encodeReference, hashRowInSteps } from './reference.ts'

/** A transaction of this many is over soon: writers wait behind it. */
const rowsAtOnce = 64

/**
 * Content that a fold has stored need not stay in the log as well: rows up to the newest recorded
 * fold keep only its name. They are not replayed any more; who changed what, and the chain, stay as
 * they are. Calls `step` after each few rows, so that others get their turn. Returns how far it
 * came.
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
    // Rows that are there never change, so what is read before a rest is as good after it.
    await log.trim(branch, last.seq, await nodes.run(trimmed(rows, nodes.hash)))
    seq = last.seq
    await step()
  }
  return seq
}

/** Those of the rows that become shorter. What is damaged stays as it is, to be found. */
function* trimmed(rows: readonly LogRow[], hash: HashFunction): Steps<readonly LogRow[]> {
  const shorter: LogRow[] = []
  for (const row of rows) {
    yield
    if (hash(row.bytes) === row.hash || (yield* hashRowInSteps(row.bytes, hash)) !== row.hash)
      continue
    const batch = yield* decodeInSteps(row.bytes)
    shorter.push({ ...row, bytes: yield* encodeReference(batch, hash) })
  }
  return shorter
}
