import { CairnError, type CheckpointId } from '@cairn/protocol'
import { type Batch, decodeBatch, type RootChange } from '../history/batch.ts'
import type { Branch } from '../history/branch.ts'
import type { Author, Receipt } from '../history/draft.ts'
import type { FoldPoint } from '../history/head.ts'
import type { Checkpoint } from '../ports/ref-store.ts'
import type { Stores } from '../ports/stores.ts'
import { findBase } from './base.ts'

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
    await requireSameBase(stores, branch, checkpoint)
    await keep?.(point)
    return {
      cause: 'rollback',
      before: point.snapshot,
      after: checkpoint.snapshot,
      subject: checkpoint.id,
      message: '',
    }
  }
  return branch.changeRoot(author, decide, epoch)
}

/** A layer without what its base has would, when it is committed, undo the work of others, or its own. */
export async function requireSameBase(
  stores: Pick<Stores, 'log' | 'refs'>,
  branch: Pick<Branch, 'id' | 'head'>,
  checkpoint: Pick<Checkpoint, 'id' | 'seq'>,
): Promise<void> {
  const { baseSeq } = await findBase(stores, branch)
  if (baseSeq <= checkpoint.seq) return
  throw new CairnError('checkpoint_outdated', {
    message: `cannot take layer ${branch.id} back to checkpoint ${checkpoint.id}: it was rebased or committed since`,
    subject: checkpoint.id,
  })
}

/** Takes back a rollback, unless something was written since. */
export function undoRollback(
  stores: Stores,
  branch: Branch,
  author: Author,
  epoch?: number,
): Promise<Receipt> {
  const decide = async ({ seq, snapshot }: FoldPoint): Promise<RootChange> => {
    const last = await lastChange(stores, branch, seq)
    if (last?.body.type !== 'root' || last.body.change.cause !== 'rollback')
      throw new CairnError('nothing_to_undo', {
        message: `cannot undo on branch ${branch.id}: its newest change is no rollback`,
        subject: branch.id,
      })
    const { subject, before } = last.body.change
    await requireSameBase(stores, branch, { id: subject as CheckpointId, seq: last.seq - 1 })
    return { cause: 'undo', before: snapshot, after: before, subject, message: '' }
  }
  return branch.changeRoot(author, decide, epoch)
}

/** A lease that went from hand to hand since, or a state, changed no file. */
async function lastChange(
  { log }: Stores,
  { id }: Branch,
  last: number,
): Promise<Batch | undefined> {
  for (let seq = last; seq > 0; seq--) {
    const [row] = await log.read(id, seq - 1, 1)
    const batch = row && decodeBatch(row.bytes)
    if (batch?.body.type !== 'epoch' && batch?.body.type !== 'state') return batch
  }
  return undefined
}
