import {
  type Batch,
  diffPaths,
  joinNames,
  LayerConflictError,
  mapPaced,
  namesOf,
  planUndo,
  sessionIds,
  type Snapshot,
  undoBatches,
  undoOn,
  type UndoWish,
} from '@cairn/core'
import {
  allowsAll,
  type ByteString,
  CairnError,
  formatHash,
  type UndoReceipt,
} from '@cairn/protocol'
import { requireChanges } from '../access/merged-changes.ts'
import { findStart } from '../history/history-walk.ts'
import { requireWhole } from '../layers/scoped-layers.ts'
import { once } from '../once/once.ts'
import { describeChange } from '../points/describe.ts'
import type { Point } from '../points/references.ts'
import { isoTime, millisecondsOf } from '../ports/clock.ts'
import { atBarrier, whenShown } from '../workspaces/barrier.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import type { Asker } from '../workspaces/path-changes.ts'
import { authorOf, readBatch } from './root-receipt.ts'

/** Whose changes are taken back. */
export interface UndoTarget {
  readonly toolCall?: string | undefined
  readonly actor?: string | undefined
  /** Only changes at this path and below. */
  readonly path: ByteString
  /** Only what happened then or later. */
  readonly sinceMs?: number | undefined
}

/** Takes back what a tool call or an actor changed, unless something else changed the same since. */
export async function undoChanges(
  workspace: OpenWorkspace,
  asker: Asker,
  { branch }: Pick<Point, 'branch'>,
  target: UndoTarget,
): Promise<UndoReceipt> {
  requireRight(asker, target)
  const asked = { what: 'undo changes', layer: branch.id, options: target }
  return once(workspace, asker, asked, async (key) => {
    const { seq, batches } = await visibly(asker, async () => {
      await branch.refresh()
      const plan = await planUndo(workspace.stores, branch, await wishOf(workspace, branch, target))
      const author = authorOf(workspace, asker, key)
      const check = (before: Snapshot, after: Snapshot): Promise<void> =>
        requireAllowed(workspace, asker, before, after)
      const receipt = await atBarrier(workspace, branch, (epoch) =>
        undoBatches(workspace.stores, branch, author, plan, { epoch, check }),
      )
      return { ...receipt, batches: plan.batches }
    })
    await whenShown(workspace, branch)
    workspace.quotas.forget(branch.id)
    const { body, actor, time } = await readBatch(workspace, branch, seq)
    if (body.type !== 'root') throw new Error(`batch ${seq} of ${branch.id} changes no root`)
    const { before, after } = body.change
    const told = await describeUndo(workspace, before, after)
    return { ...told, seq, batches, actor, time: isoTime(time) }
  })
}

/** What it would do now. */
export async function tryUndo(
  workspace: OpenWorkspace,
  asker: Asker,
  { branch }: Pick<Point, 'branch'>,
  target: UndoTarget,
): Promise<UndoReceipt> {
  requireRight(asker, target)
  return visibly(asker, async () => {
    await branch.refresh()
    const plan = await planUndo(workspace.stores, branch, await wishOf(workspace, branch, target))
    const { snapshot: before } = await branch.fold()
    const after = await undoOn(workspace.stores, branch, before, plan)
    await requireAllowed(workspace, asker, before, after)
    const told = await describeUndo(workspace, before, after)
    const time = isoTime(workspace.clock.now())
    return { ...told, batches: plan.batches, actor: asker.actor, time, dryRun: true }
  })
}

/** Its batches and what they conflict with may be anywhere below the path. */
function requireRight({ scope }: Asker, { toolCall, actor, path }: UndoTarget): void {
  if (toolCall === undefined && actor === undefined)
    throw new CairnError('invalid_argument', {
      what: 'undo changes',
      reason: 'want a toolCall, an actor, or both',
      subject: 'toolCall',
    })
  if (!scope) return
  for (const operation of ['read', 'list', 'write', 'delete'] as const)
    requireWhole(scope, operation, path)
}

async function wishOf(
  workspace: OpenWorkspace,
  branch: Point['branch'],
  { toolCall, actor, path, sinceMs = -Infinity }: UndoTarget,
): Promise<UndoWish> {
  return {
    subject: toolCall ?? actor!,
    path: namesOf(path),
    start: await findStart(workspace, branch),
    isWanted: (batch: Batch) =>
      (toolCall === undefined || sessionIds.originOf(batch).toolCall === toolCall) &&
      (actor === undefined || batch.actor === actor) &&
      millisecondsOf(batch.time) >= sinceMs,
  }
}

/** A commit that is taken back changes what it brought: a token must be allowed all of that. */
async function requireAllowed(
  { stores }: Pick<OpenWorkspace, 'stores'>,
  { scope }: Asker,
  before: Snapshot,
  after: Snapshot,
): Promise<void> {
  if (scope) requireChanges(scope.grant, await diffPaths(stores.nodes, before, after))
}

/** A file may have moved to where a token sees nothing: conflicts there have no path. */
async function visibly<T>({ scope }: Asker, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!scope || !(error instanceof LayerConflictError)) throw error
    const { found, sides, what, hint, subject } = error
    const seen = found.filter(({ path, layer, target, base }) =>
      [path, layer?.path, target?.path, base?.path].every(
        (names) => names === undefined || allowsAll(scope.grant, 'list', joinNames(names)),
      ),
    )
    throw new LayerConflictError(subject as Point['branch']['id'], seen, sides, { what, hint })
  }
}

async function describeUndo(
  { stores: { nodes } }: Pick<OpenWorkspace, 'stores'>,
  before: Snapshot,
  after: Snapshot,
): Promise<Pick<UndoReceipt, 'before' | 'after' | 'paths'>> {
  const changes = await diffPaths(nodes, before, after)
  return {
    before: formatHash(before.root),
    after: formatHash(after.root),
    paths: await mapPaced(nodes.pacer, changes, describeChange),
  }
}
