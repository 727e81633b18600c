import { type BranchId, isCairnError, isFsError } from '@cairn/protocol'
import type { Snapshot } from '../ports/records.ts'
import type { Stores } from './stores.ts'
import { decodeInSteps } from './batch.ts'
import { replay, rowsOf } from './replay.ts'

/** A tree that a branch had at a place in its log. */
interface Point {
  readonly seq: number
  readonly snapshot: Snapshot
  /** As in "is not in the newest fold". */
  readonly name: string
}

/** Batches of a log whose effect is missing in the tree that should have it. */
export interface LostBatches {
  readonly first: number
  readonly last: number
  /** The tree without it. */
  readonly point: string
}

/**
 * Replays a log from each tree that is known to the next, and compares. Opening a branch begins at its newest fold, so
 * it would never notice that a batch before it is in no tree. Stores nodes and blobs: give it a `ScratchStore`. Skips
 * what cannot be replayed any more because its content was collected.
 */
export async function* findLostBatches(
  stores: Stores,
  branch: BranchId,
): AsyncGenerator<LostBatches> {
  const points = await knownPoints(stores, branch)
  let from: Point | undefined
  for (const to of points) {
    if (from && !(await leadsTo(stores, branch, from, to)))
      yield { first: Math.min(from.seq + 1, to.seq), last: to.seq, point: to.name }
    from = to
  }
}

/** In the order of the log. */
async function knownPoints(
  { log, refs, nodes }: Stores,
  branch: BranchId,
): Promise<readonly Point[]> {
  const { base, baseSeq, parent, next, folded } = await refs.getBranch(branch)
  const points: Point[] = [{ ...folded, name: 'the newest fold' }]
  // The base of a layer moves. While it has not, it is what the layer began with.
  if (parent === undefined || (baseSeq === 0 && next.length === 0))
    points.push({ seq: 0, snapshot: base, name: 'the first tree' })
  for (const { seq, snapshot, id, label } of await refs.listCheckpoints(branch))
    points.push({ seq, snapshot, name: `checkpoint ${label === '' ? id : label}` })
  for await (const { seq, bytes } of rowsOf({ log }, branch, 0, Infinity)) {
    const { body } = await nodes.run(decodeInSteps(bytes))
    if (body.type !== 'root') continue
    const { before, after, cause } = body.change
    points.push({ seq: seq - 1, snapshot: before, name: `what ${cause} ${seq} left` })
    points.push({ seq, snapshot: after, name: `${cause} ${seq}` })
  }
  return points.sort((a, b) => a.seq - b.seq)
}

/** Also true if it can no longer be known. */
async function leadsTo(stores: Stores, branch: BranchId, from: Point, to: Point): Promise<boolean> {
  try {
    const { root, orphans } = await replay(stores, branch, from, to.seq)
    if (root === to.snapshot.root && orphans === to.snapshot.orphans) return true
    await requireContent(stores, branch, from.seq, to.seq)
    return false
  } catch (error) {
    if (isFsError(error)) return false
    if (unreadable.some((code) => isCairnError(error, code))) return true
    throw error
  }
}

/** What is needed and cannot be read is found by reading all that can be reached. */
const unreadable = ['node_missing', 'blob_missing', 'corrupt', 'unsupported_version'] as const

/**
 * Rejects with `blob_missing` where a row names content that is not stored. A fold takes a block that is exactly one blob
 * without reading it. A trimmed row names the bytes as they were written, and the fold before it stored them without the
 * zeros at their end.
 */
async function requireContent(
  { nodes, blobs, log }: Stores,
  branch: BranchId,
  after: number,
  end: number,
): Promise<void> {
  for await (const { bytes } of rowsOf({ log }, branch, after, end)) {
    const { body } = await nodes.run(decodeInSteps(bytes))
    if (body.type !== 'ops') continue
    for (const op of body.ops)
      if ('data' in op && op.data.type === 'blob') await blobs.read(op.data.id)
  }
}
