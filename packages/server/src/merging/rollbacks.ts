import {
  type Author,
  type Branch,
  type Checkpoint,
  decodeOutline,
  findBase,
  rollback,
  undoRollback,
} from '@cairn/core'
import { CairnError, isCairnError, type RootReceipt } from '@cairn/protocol'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import type { Asker } from '../workspaces/path-changes.ts'
import { isAutomatic, makeAutomatic } from '../workspaces/auto-checkpoints.ts'
import { atBarrier, whenShown } from '../workspaces/barrier.ts'
import { once } from '../once/once.ts'
import {
  baseId,
  findCheckpoint,
  findLayer,
  findToolCall,
  type LayerPlace,
} from '../points/references.ts'
import { authorOf, rootReceipt } from './root-receipt.ts'

export interface RollbackTarget {
  /** A checkpoint; the base unless given. */
  readonly to?: string | undefined
  /** Instead: the checkpoint that was made for this call. */
  readonly beforeToolCall?: string | undefined
}

/** What it leaves is an automatic checkpoint: it can be had again also after more was written. */
export async function rollBack(
  workspace: OpenWorkspace,
  asker: Asker,
  reference: string,
  options: RollbackTarget,
): Promise<RootReceipt> {
  return once(workspace, asker, { what: 'roll back', layer: reference, options }, async (key) => {
    const place = await findLayer(workspace, reference)
    const author = authorOf(workspace, asker, key)
    for (;;) {
      const checkpoint = await findTarget(workspace, place, options)
      try {
        return await rollBackTo(workspace, author, place, checkpoint)
      } catch (error) {
        // The base has moved since it was read.
        if (checkpoint.id !== baseId || !isCairnError(error, 'checkpoint_outdated')) throw error
        await place.branch.refresh()
      }
    }
  })
}

async function rollBackTo(
  workspace: OpenWorkspace,
  author: Author,
  { id, branch }: LayerPlace,
  checkpoint: Checkpoint,
): Promise<RootReceipt> {
  const receipt = await atBarrier(workspace, branch, (epoch) =>
    rollback(workspace.stores, branch, author, checkpoint, epoch, async (left) => {
      if (left.snapshot.root !== checkpoint.snapshot.root)
        await makeAutomatic(workspace, branch, left)
    }),
  )
  await whenShown(workspace, branch)
  return rootReceipt(workspace, id, branch, receipt)
}

async function findTarget(
  workspace: OpenWorkspace,
  place: LayerPlace,
  { to, beforeToolCall }: RollbackTarget,
): Promise<Checkpoint> {
  if (beforeToolCall !== undefined) return findToolCall(workspace, place, beforeToolCall)
  const named = to === undefined ? place.checkpoint : undefined
  return named ?? findCheckpoint(workspace, place, to ?? 'base')
}

export async function undo(
  workspace: OpenWorkspace,
  asker: Asker,
  reference: string,
): Promise<RootReceipt> {
  return once(workspace, asker, { what: 'undo', layer: reference }, async (key) => {
    const { id, branch } = await findLayer(workspace, reference)
    try {
      const receipt = await atBarrier(workspace, branch, (epoch) =>
        undoRollback(workspace.stores, branch, authorOf(workspace, asker, key), epoch),
      )
      await whenShown(workspace, branch)
      return await rootReceipt(workspace, id, branch, receipt)
    } catch (error) {
      if (!isCairnError(error, 'nothing_to_undo')) throw error
      throw withWayBack(error, id, await findLeft(workspace, branch))
    }
  })
}

/** What the newest rollback left, where one can still go there. */
async function findLeft(
  { stores }: Pick<OpenWorkspace, 'stores'>,
  branch: Branch,
): Promise<Checkpoint | undefined> {
  const { baseSeq } = await findBase(stores, branch)
  const all = await stores.refs.listCheckpoints(branch.id)
  for (const checkpoint of all.toReversed()) {
    const { id, seq } = checkpoint
    if (!isAutomatic(id) || seq < baseSeq) continue
    const [row] = await stores.log.read(branch.id, seq, 1)
    const body = row && decodeOutline(row.bytes).body
    if (body?.type === 'root' && body.change.cause === 'rollback') return checkpoint
  }
  return undefined
}

function withWayBack(error: CairnError, layer: string, left: Checkpoint | undefined): CairnError {
  if (!left) return error
  return new CairnError('nothing_to_undo', {
    what: `undo on layer ${layer}`,
    reason: `something was written since its last rollback. What that left comes back with: cairn fs layer rollback ${layer} --to ${left.id}`,
    subject: layer,
    cause: error,
  })
}
