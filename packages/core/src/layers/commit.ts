import { type BranchId, type CheckpointId, isCairnError, type SessionId } from '@cairn/protocol'
import type { FoldPoint, Resolution, Snapshot } from '../ports/records.ts'
import { decodeOutline, type RootChange } from '../history/batch.ts'
import type { Branch } from '../history/branch.ts'
import type { Receipt } from '../history/draft.ts'
import type { Checkpoint, NextBase } from '../ports/ref-store.ts'
import { layerSession } from '../history/session-ids.ts'
import type { Stores } from '../history/stores.ts'
import { findBase, isSameBase, type LayerBase, noteNextBase, outdated, settleBase } from './base.ts'
import { LayerConflictError } from './conflict-error.ts'
import {
  authorOf,
  endConflict,
  type LayerAuthor,
  layerClosed,
  setStateUnlessChanged,
  updateRecord,
} from './layer-state.ts'
import { merge } from './merge.ts'
import { orphansBeside } from './orphans.ts'
import { subjectOf } from './conflict.ts'
import { requireSameBase } from './rollback.ts'
import type { MergeInput } from './touched.ts'
import { onceKnown } from './unknown-place.ts'

export interface LayerOptions extends LayerAuthor {
  /** The layer's parent. */
  readonly target: Branch
  readonly message?: string
  /** Merge files that both sides edited line by line, where the lines allow it. */
  readonly mergeText?: boolean
  /**
   * The epoch of the branch that is written to: the target of a commit or the layer of a rebase. In
   * another epoch it rejects with `stale_epoch`.
   */
  readonly epoch?: number
  /** Commits the layer as it was then. What came after stays in it, and makes its next commit. */
  readonly at?: CommitPoint
  /** Sees what a commit would do to the target, in its turn; refuses by rejecting. May be asked several times. */
  readonly check?: (before: Snapshot, after: Snapshot) => Promise<void>
}

/** Without an id it is what the head was; with one, a checkpoint. */
type CommitPoint = Pick<Checkpoint, 'seq' | 'snapshot'> & Partial<Pick<Checkpoint, 'id'>>

/** What a commit did. The same commit asked for again gives the same receipt. `diffPaths` tells which paths it changed. */
export interface CommitOutcome {
  /** The target's sequence number of it. */
  readonly seq: number
  readonly before: Snapshot
  readonly after: Snapshot
}

/**
 * Applies a layer's changes to its parent in one batch, or rejects with LayerConflictError and leaves the
 * parent as it is. A layer that is written to meanwhile stays open, with what came late as its changes. Rejects with
 * `checkpoint_outdated` when `at` is no longer a tree over the layer's base.
 */
export async function commitLayer(stores: Stores, options: LayerOptions): Promise<CommitOutcome> {
  const { layer, target, author } = options
  for (;;) {
    try {
      return await onceKnown(stores, [layer, target], author, () => commitOnce(stores, options))
    } catch (error) {
      // For a commit of the head, the next head is as good.
      if (options.at || !isCairnError(error, 'checkpoint_outdated')) throw error
      await layer.refresh()
    }
  }
}

async function commitOnce(stores: Stores, options: LayerOptions): Promise<CommitOutcome> {
  const { layer, target, message = '', at } = options
  const point = await pointToCommit(options)
  if (point.state === 'abandoned') throw layerClosed(layer, 'commit')
  const done = await findDone(stores, options, point)
  if (done !== undefined) {
    await closeLayer(stores, options, point)
    return readReceipt(stores, target.id, done)
  }
  if (at) await requireSameBase(stores, layer, { id: headId, ...at })
  const base = { ...point.snapshot, orphans: stores.nodes.emptyRoot }
  const decide = async ({ seq, snapshot: before }: FoldPoint): Promise<RootChange> => {
    const next = { base, baseSeq: point.seq, branch: target.id, seq: seq + 1 }
    const sides = { layer: point.snapshot, target: before }
    const after = await mergeOnto(stores, options, sides, next)
    await options.check?.(before, after)
    return { cause: 'commit', before, after, subject: layer.id, message }
  }
  const seq = await append(stores, options, point, decide)
  // DURABLE: the target's log has the commit; what follows can be done again.
  await closeLayer(stores, options, point)
  return readReceipt(stores, target.id, seq)
}

/** Gives the sequence number in the target. */
async function append(
  stores: Stores,
  options: LayerOptions,
  point: FoldPoint,
  decide: (head: FoldPoint) => Promise<RootChange>,
): Promise<number> {
  const { layer, target, at, epoch } = options
  try {
    const author = authorOf(options, 'commit', point.seq)
    return (await target.changeRoot(author, decide, epoch)).seq
  } catch (error) {
    if (isCairnError(error, 'layer_conflict'))
      await setStateUnlessChanged(stores, options, 'conflicted', point)
    // Another server has committed a later state of the layer meanwhile.
    if (isCairnError(error, 'batch_passed_over')) throw outdated(layer.id, at?.id ?? headId)
    throw error
  }
}

const headId = 'head' as CheckpointId

/**
 * Puts a layer's changes on top of its parent's head, which becomes its base. Under a session of its own it happens
 * once; otherwise once for one state of the layer.
 */
export async function rebaseLayer(stores: Stores, options: RebaseOptions): Promise<Receipt> {
  for (;;) {
    try {
      return await rebaseOnce(stores, options)
    } catch (error) {
      // Another server has committed the layer meanwhile: its base moved beyond the tree that was read of the target.
      if (!isCairnError(error, 'checkpoint_outdated')) throw error
    }
  }
}

interface RebaseOptions extends LayerOptions {
  readonly session?: SessionId
}

async function rebaseOnce(stores: Stores, options: RebaseOptions): Promise<Receipt> {
  const { layer, target, message = '' } = options
  // The base first: a commit that moved it is then in the tree that is read of the target. The other way round, the
  // target would seem to have taken back what the layer committed.
  const since = await findBase(stores, layer)
  await target.refresh()
  const onto = { ...(await target.fold()).snapshot, orphans: stores.nodes.emptyRoot }
  const { session } = options
  const author = session
    ? { ...options.author, session, number: 1 }
    : authorOf(options, 'rebase', layer.head.position.seq)
  const decide = async ({ seq, snapshot: before }: FoldPoint): Promise<RootChange> => {
    const next = { base: onto, baseSeq: seq + 1, branch: layer.id, seq: seq + 1 }
    const sides = { layer: before, target: onto }
    const { root } = await mergeOnto(stores, options, sides, next, since)
    // What is open on the layer stays open there, whatever it stands on.
    const after = { root, orphans: await orphansBeside(stores.nodes, root, before.orphans) }
    return { cause: 'rebase', before, after, subject: target.id, message }
  }
  const receipt = await onceKnown(stores, [layer, target], author, () =>
    layer.changeRoot(author, decide, options.epoch),
  )
  // DURABLE: the layer's log has the rebase; what follows can be done again.
  await settleBase(stores, layer)
  await endConflict(options)
  return receipt
}

/** Decides a conflict. The layer's next commit or rebase goes by it. */
export function resolveConflict(
  stores: Stores,
  layer: BranchId,
  resolution: Resolution,
): Promise<void> {
  return updateRecord(stores, layer, ({ resolutions }) => ({
    resolutions: [
      ...resolutions.filter(
        ({ conflict }) => subjectOf(conflict) !== subjectOf(resolution.conflict),
      ),
      resolution,
    ],
  }))
}

/**
 * Merges over what the layer stands on at that moment, and notes where it will stand with what comes out. `since` is what
 * it stood on before the target was read; rejects with `checkpoint_outdated` when that has changed.
 */
async function mergeOnto(
  stores: Stores,
  { layer, mergeText = false, at }: LayerOptions,
  sides: Pick<MergeInput, 'layer' | 'target'>,
  next: Omit<NextBase, 'after'>,
  since?: LayerBase,
): Promise<Snapshot> {
  const { nodes, blobs } = stores
  for (;;) {
    const found = await findBase(stores, layer)
    // The tree that is committed, or the place of the rebase: it must not be older than the base that it is merged over.
    const isOlder = found.baseSeq > next.baseSeq || (since && !isSameBase(found, since))
    if (isOlder) throw outdated(layer.id, at?.id ?? headId)
    const { base, resolutions } = found
    const result = await merge({ ...sides, base, nodes, blobs, resolutions, mergeText })
    if (result.type === 'conflicted')
      throw new LayerConflictError(layer.id, result.conflicts, { ...sides, base })
    const { snapshot } = result
    const isHead = next.branch !== layer.id && at?.id === undefined
    const noted = { ...next, after: snapshot.root }
    if (await noteNextBase(stores, layer, found, noted, isHead ? next.baseSeq : undefined))
      return snapshot
  }
}

async function pointToCommit({
  layer,
  at,
}: Pick<LayerOptions, 'layer' | 'at'>): Promise<FoldPoint> {
  const point = await layer.fold()
  return at ? { ...point, seq: at.seq, snapshot: at.snapshot } : point
}

/** The target's batch that took this very state of the layer, also if it was cut off before the layer was closed. */
async function findDone(
  stores: Stores,
  { layer, target }: LayerOptions,
  { state, seq, snapshot }: FoldPoint,
): Promise<number | undefined> {
  const { log } = stores
  const session = layerSession('commit', layer.id)
  const number = state === 'committed' ? await log.lastNumber(target.id, session) : seq + 1
  const row = await log.find(target.id, session, number)
  if (row) return row.seq
  if (state === 'committed') throw layerClosed(layer, 'commit')
  const { came } = await findBase(stores, layer)
  // Since then nothing but its lease has changed hands.
  const isThis = came?.branch === target.id && came.base.root === snapshot.root
  return isThis ? came.seq : undefined
}

/** What came late makes the layer's next commit, over what this one took. */
async function closeLayer(stores: Stores, options: LayerOptions, point: FoldPoint): Promise<void> {
  if (await setStateUnlessChanged(stores, options, 'committed', point)) return
  await settleBase(stores, options.layer)
  await endConflict(options)
}

async function readReceipt({ log }: Stores, target: BranchId, seq: number): Promise<CommitOutcome> {
  const [row] = await log.read(target, seq - 1, 1)
  const { body } = decodeOutline(row!.bytes)
  if (body.type !== 'root') throw new Error(`batch ${seq} of ${target} is no commit`)
  const { before, after } = body.change
  return { seq, before, after }
}
