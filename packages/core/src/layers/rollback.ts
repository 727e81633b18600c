import { CairnError, type CheckpointId, type Hash } from '@cairn/protocol'
import { type BatchOutline, decodeOutline, type RootChange } from '../history/batch.ts'
import type { Branch } from '../history/branch.ts'
import type { Author, Receipt } from '../history/draft.ts'
import type { FoldPoint } from '../ports/records.ts'
import type { Checkpoint } from '../ports/ref-store.ts'
import type { Stores } from '../history/stores.ts'
import { findBase, type LayerBase, noteNextBase, outdated } from './base.ts'
import { onceKnown } from './unknown-place.ts'

/** Names a branch as it is now. Writing one row: the tree is already there. */
export async function makeCheckpoint(
  stores: Stores,
  branch: Branch,
  names: Pick<Checkpoint, 'id' | 'label' | 'time'>,
): Promise<Checkpoint> {
  const { seq, snapshot } = await branch.fold()
  const checkpoint = { ...names, branch: branch.id, seq, snapshot }
  await stores.refs.putCheckpoint(checkpoint)
  // DURABLE: the row and the tree it names are stored.
  return checkpoint
}

/**
 * Puts a branch back to a checkpoint. What came after stays in the log, so this can be undone. Rejects with
 * `checkpoint_outdated` where that would take a layer back behind its base. `keep` sees, folded, what it is about to
 * leave; it may run several times, and not at all for a rollback that is in the log already.
 */
export function rollback(
  stores: Stores,
  branch: Branch,
  author: Author,
  checkpoint: Checkpoint,
  epoch?: number,
  keep?: (before: FoldPoint) => Promise<void>,
): Promise<Receipt> {
  const decide = async (point: FoldPoint): Promise<RootChange> => {
    const after = checkpoint.snapshot.root
    await noteTree(stores, branch, point, after, () => requireSameBase(stores, branch, checkpoint))
    await keep?.(point)
    return {
      cause: 'rollback',
      before: point.snapshot,
      after: checkpoint.snapshot,
      subject: checkpoint.id,
      message: '',
    }
  }
  return onceKnown(stores, [branch], author, () => branch.changeRoot(author, decide, epoch))
}

/** A layer without what its base has would, when it is committed, undo the work of others, or its own. */
export async function requireSameBase(
  stores: Pick<Stores, 'log' | 'refs'>,
  branch: Pick<Branch, 'id' | 'head'>,
  checkpoint: Pick<Checkpoint, 'id' | 'seq'>,
): Promise<LayerBase> {
  const found = await findBase(stores, branch)
  if (found.baseSeq <= checkpoint.seq) return found
  throw outdated(branch.id, checkpoint.id)
}

/** Tells commits of the layer, which go to another log, that the layer is about to be put on another tree. */
export async function noteTree(
  stores: Stores,
  branch: Branch,
  { seq }: FoldPoint,
  after: Hash,
  requireBase: () => Promise<LayerBase>,
): Promise<void> {
  const { parent } = await stores.refs.getBranch(branch.id)
  for (;;) {
    const found = await requireBase()
    const { base, baseSeq } = found
    const next = { base, baseSeq, branch: branch.id, seq: seq + 1, after }
    if (parent === undefined || (await noteNextBase(stores, branch, found, next))) return
  }
}

/** Takes back a rollback, unless something was written since. */
export function undoRollback(
  stores: Stores,
  branch: Branch,
  author: Author,
  epoch?: number,
): Promise<Receipt> {
  const decide = async (point: FoldPoint): Promise<RootChange> => {
    const last = await lastChange(stores, branch, point.seq)
    if (last?.body.type !== 'root' || last.body.change.cause !== 'rollback')
      throw new CairnError('nothing_to_undo', {
        what: `undo on branch ${branch.id}`,
        reason: 'the newest change is not a rollback',
        subject: branch.id,
      })
    const { subject, before } = last.body.change
    const left = { id: subject as CheckpointId, seq: last.seq - 1 }
    await noteTree(stores, branch, point, before.root, () => requireSameBase(stores, branch, left))
    return { cause: 'undo', before: point.snapshot, after: before, subject, message: '' }
  }
  return onceKnown(stores, [branch], author, () => branch.changeRoot(author, decide, epoch))
}

/** A lease that went from hand to hand since, or a state, changed no file. */
async function lastChange(
  { log }: Stores,
  { id }: Branch,
  last: number,
): Promise<BatchOutline | undefined> {
  for (let seq = last; seq > 0; seq--) {
    const [row] = await log.read(id, seq - 1, 1)
    const batch = row && decodeOutline(row.bytes)
    if (batch?.body.type !== 'epoch' && batch?.body.type !== 'state') return batch
  }
  return undefined
}
