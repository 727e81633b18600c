import { CairnError } from '@cairn/protocol'
import { type BatchBody, decodeBatch, type RootChange } from '../history/batch.ts'
import type { Branch } from '../history/branch.ts'
import type { Author, Receipt } from '../history/draft.ts'
import type { FoldPoint } from '../history/head.ts'
import type { Checkpoint } from '../ports/ref-store.ts'
import type { Stores } from '../ports/stores.ts'
import { layerSession } from './layer-state.ts'

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
 * `checkpoint_outdated` where that would take a layer back behind its base.
 */
export function rollback(
  stores: Stores,
  branch: Branch,
  author: Author,
  checkpoint: Checkpoint,
  epoch?: number,
): Promise<Receipt> {
  const decide = async ({ snapshot }: FoldPoint): Promise<RootChange> => {
    await requireSameBase(stores, branch, checkpoint)
    return {
      cause: 'rollback',
      before: snapshot,
      after: checkpoint.snapshot,
      subject: checkpoint.id,
      message: '',
    }
  }
  return branch.changeRoot(author, decide, epoch)
}

/** A layer without what its base has would, when it is committed, undo the work of others. */
export async function requireSameBase(
  { log }: Pick<Stores, 'log'>,
  { id }: Pick<Branch, 'id'>,
  checkpoint: Pick<Checkpoint, 'id' | 'seq'>,
): Promise<void> {
  const session = layerSession('rebase', id)
  const rebase = await log.find(id, session, await log.lastNumber(id, session))
  if (!rebase || rebase.seq <= checkpoint.seq) return
  throw new CairnError('checkpoint_outdated', {
    message: `cannot roll layer ${id} back to checkpoint ${checkpoint.id}: it was rebased since`,
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
    const body = await lastChange(stores, branch, seq)
    if (body?.type !== 'root' || body.change.cause !== 'rollback')
      throw new CairnError('nothing_to_undo', {
        message: `cannot undo on branch ${branch.id}: its newest change is no rollback`,
        subject: branch.id,
      })
    const { subject, before } = body.change
    return { cause: 'undo', before: snapshot, after: before, subject, message: '' }
  }
  return branch.changeRoot(author, decide, epoch)
}

/** A lease that went from hand to hand since, or a state, changed no file. */
async function lastChange(
  { log }: Stores,
  { id }: Branch,
  last: number,
): Promise<BatchBody | undefined> {
  for (let seq = last; seq > 0; seq--) {
    const [row] = await log.read(id, seq - 1, 1)
    const body = row && decodeBatch(row.bytes).body
    if (body?.type !== 'epoch' && body?.type !== 'state') return body
  }
  return undefined
}
