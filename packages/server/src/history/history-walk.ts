import {
  applyOp,
  type Batch,
  type Branch,
  Changes,
  decodeInSteps,
  type Op,
  type Snapshot,
  takeSteps,
  TreeView,
  type View,
} from '@cairn/core'
import { type Ino, isCairnError, isFsError } from '@cairn/protocol'
import { requirePresent } from '../access/present.ts'
import type { Branches } from '../workspaces/branches.ts'

/** A batch, and the names before and after it. Both are good until the next one is asked for. */
export interface HistoryStep {
  readonly batch: Batch
  /** Undefined where trees of long ago are gone from the store. */
  readonly views: { readonly before: View; readonly after: View } | undefined
}

export interface HistoryWalkOptions {
  /** Files whose content is wanted, too. Of all others only names are kept up: content would fill the memory. */
  readonly hasContent?: (ino: Ino) => boolean
  /** The last batch that is wanted; the newest unless given. */
  readonly until?: number | undefined
  /** Ends the walk by throwing. */
  readonly gone?: AbortSignal | undefined
}

const rowsAtOnce = 256

/** Plays the log of a branch again, from where the branch began. Costs the length of the log. */
export async function* walkHistory(
  workspace: Pick<Branches, 'stores' | 'layers'>,
  branch: Branch,
  { hasContent = () => false, until = branch.head.position.seq, gone }: HistoryWalkOptions = {},
): AsyncGenerator<HistoryStep> {
  const { nodes, log } = workspace.stores
  const viewOf = (snapshot: Snapshot): Changes => new Changes(new TreeView(nodes, snapshot))
  let view: Changes | undefined = viewOf(await findStart(workspace, branch))
  for (let seq = 0; seq < until;) {
    const rows = await log.read(branch.id, seq, Math.min(rowsAtOnce, until - seq))
    if (rows.length === 0) return
    for (const row of rows) {
      seq = row.seq
      requirePresent(gone)
      if (nodes.pacer.isDue()) await nodes.pacer.rest()
      const batch = await nodes.run(decodeInSteps(row.bytes))
      const { body } = batch
      const before: Changes | undefined = view
      if (body.type === 'root') {
        const after: Changes = viewOf(body.change.after)
        // What stood before is named as well: with it a gap ends.
        yield { batch, views: { before: before ?? viewOf(body.change.before), after } }
        view = after
        continue
      }
      const ops = body.type === 'ops' ? body.ops.filter((op) => isWanted(op, hasContent)) : []
      const changes = before && (await plan(workspace, before, ops))
      yield { batch, views: before && changes && { before, after: changes } }
      if (before && changes) await nodes.run(before.absorbInSteps(changes))
      else view = undefined
    }
  }
}

/** A layer began where its row says: what it stands on was moved by every rebase. */
export async function findStart(
  { stores, layers }: Pick<Branches, 'stores' | 'layers'>,
  { id }: Branch,
): Promise<Snapshot> {
  const record = await layers.findByBranch(id)
  if (record) return { root: record.originRoot, orphans: stores.nodes.emptyRoot }
  return (await stores.refs.getBranch(id)).base
}

/** Undefined when the tree it stands on is gone from the store. */
async function plan(
  { stores }: Pick<Branches, 'stores'>,
  view: View,
  ops: readonly Op[],
): Promise<Changes | undefined> {
  try {
    return await stores.nodes.readSteps(function* () {
      const changes = new Changes(view)
      yield* takeSteps(ops, (op) => applyOp(changes, op))
      return changes
    })
  } catch (error) {
    if (isFsError(error) || isGone(error)) return undefined
    throw error
  }
}

/** Trees and bytes that nothing leads to any more are taken away after a while. */
export function isGone(error: unknown): boolean {
  return isCairnError(error, 'node_missing') || isCairnError(error, 'blob_missing')
}

function isWanted(op: Op, hasContent: (ino: Ino) => boolean): boolean {
  switch (op.type) {
    case 'create':
    case 'link':
    case 'unlink':
    case 'rmdir':
    case 'rename':
    case 'reap':
      return true
    case 'write':
    case 'append':
    case 'fallocate':
    case 'copy':
    case 'setattr':
      return hasContent(op.ino)
    case 'setxattr':
    case 'removexattr':
      return false
  }
}
