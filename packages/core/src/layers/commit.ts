import { type BranchId, isCairnError } from '@cairn/protocol'
import type { Snapshot } from '../filesystem/tree-view.ts'
import { decodeBatch, type RootChange } from '../history/batch.ts'
import type { Branch } from '../history/branch.ts'
import type { Author } from '../history/draft.ts'
import type { FoldPoint } from '../history/head.ts'
import type { BranchRecord, Checkpoint } from '../ports/ref-store.ts'
import type { Stores } from '../ports/stores.ts'
import { LayerConflictError } from './conflict-error.ts'
import {
  authorOf,
  endConflict,
  type LayerAuthor,
  layerClosed,
  trySetState,
  updateRecord,
} from './layer-state.ts'
import { merge } from './merge.ts'
import { orphansBeside } from './orphans.ts'
import { diffPaths, type PathChange } from './path-changes.ts'
import type { Resolution } from './resolution.ts'
import { requireSameBase } from './rollback.ts'
import type { MergeInput } from './touched.ts'

export interface LayerOptions extends LayerAuthor {
  /** The layer's parent. */
  readonly target: Branch
  readonly message?: string
  /** Merge files that both sides edited line by line, where the lines allow it. */
  readonly mergeText?: boolean
  /** Of the branch that is written to, the target of a commit or the layer of a rebase; in another one it rejects with `stale_epoch`. */
  readonly epoch?: number
  /** Commits the layer as it was then. What came after stays in it, and makes its next commit. */
  readonly at?: Pick<Checkpoint, 'id' | 'seq' | 'snapshot'>
}

/** What a commit did. The same commit asked for again gives the same receipt. */
export interface CommitReceipt {
  /** The target's sequence number of it. */
  readonly seq: number
  readonly before: Snapshot
  readonly after: Snapshot
  readonly changes: readonly PathChange[]
}

/**
 * Applies a layer's changes to its parent in one batch, or rejects with LayerConflictError and leaves the
 * parent as it is. A layer that is written to meanwhile stays open, with what came late as its changes.
 */
export async function commitLayer(stores: Stores, options: LayerOptions): Promise<CommitReceipt> {
  const { layer, target, message = '' } = options
  const record = await stores.refs.getBranch(layer.id)
  const point = await pointToCommit(stores, options)
  if (point.state === 'abandoned') throw layerClosed(layer, 'commit')
  const author = authorOf(options, 'commit', point.seq)
  if (point.state === 'committed') {
    const number = await stores.log.lastNumber(target.id, author.session)
    return readReceipt(stores, target.id, { ...author, number })
  }
  try {
    const decide = async ({ snapshot: before }: FoldPoint): Promise<RootChange> => {
      const input = { base: record.base, layer: point.snapshot, target: before }
      const after = await mergeOrThrow(stores, options, record, input)
      return { cause: 'commit', before, after, subject: layer.id, message }
    }
    await target.changeRoot(author, decide, options.epoch)
    // DURABLE: the target's log has the commit; what follows can be done again.
    await closeLayer(stores, options, point)
    return await readReceipt(stores, target.id, author)
  } catch (error) {
    if (isCairnError(error, 'layer_conflict')) await trySetState(options, 'conflicted', point)
    throw error
  }
}

/** Puts a layer's changes on top of its parent's head, which becomes its base. */
export async function rebaseLayer(stores: Stores, options: LayerOptions): Promise<void> {
  const { layer, target, message = '' } = options
  const record = await stores.refs.getBranch(layer.id)
  const onto = { ...(await target.fold()).snapshot, orphans: stores.nodes.emptyRoot }
  const author = authorOf(options, 'rebase', layer.head.position.seq)
  const decide = async ({ snapshot: before }: FoldPoint): Promise<RootChange> => {
    const input = { base: record.base, layer: before, target: onto }
    const { root } = await mergeOrThrow(stores, options, record, input)
    // What is open on the layer stays open there, whatever it stands on.
    const after = { root, orphans: await orphansBeside(stores.nodes, root, before.orphans) }
    return { cause: 'rebase', before, after, subject: target.id, message }
  }
  await layer.changeRoot(author, decide, options.epoch)
  // Not before: over a base that is newer than itself, a layer seems to have undone what its parent did.
  await updateRecord(stores, layer.id, () => ({ base: onto, resolutions: [] }))
  await endConflict(options)
}

/** Decides a conflict. The layer's next commit or rebase goes by it. */
export function resolveConflict(
  stores: Stores,
  layer: BranchId,
  resolution: Resolution,
): Promise<void> {
  return updateRecord(stores, layer, ({ resolutions }) => ({
    resolutions: [
      ...resolutions.filter(({ conflict }) => conflict !== resolution.conflict),
      resolution,
    ],
  }))
}

async function mergeOrThrow(
  stores: Stores,
  options: LayerOptions,
  { resolutions }: BranchRecord,
  input: MergeInput,
): Promise<Snapshot> {
  const { nodes, blobs } = stores
  const { mergeText = false, layer } = options
  const result = await merge({ ...input, nodes, blobs, resolutions, mergeText })
  if (result.type === 'conflicted') throw new LayerConflictError(layer.id, result.conflicts, input)
  return result.snapshot
}

async function pointToCommit(
  stores: Stores,
  { layer, at }: Pick<LayerOptions, 'layer' | 'at'>,
): Promise<FoldPoint> {
  const point = await layer.fold()
  if (!at || at.seq === point.seq) return point
  await requireSameBase(stores, layer, at)
  return { ...point, seq: at.seq, snapshot: at.snapshot }
}

/** What came late makes the layer's next commit, over what this one took. */
async function closeLayer(stores: Stores, options: LayerOptions, point: FoldPoint): Promise<void> {
  if (await trySetState(options, 'committed', point)) return
  const base = { ...point.snapshot, orphans: stores.nodes.emptyRoot }
  await updateRecord(stores, options.layer.id, () => ({ base, resolutions: [] }))
  await endConflict(options)
}

async function readReceipt(
  stores: Stores,
  target: BranchId,
  { session, number }: Author,
): Promise<CommitReceipt> {
  const row = await stores.log.find(target, session, number)
  const { body, seq } = decodeBatch(row!.bytes)
  if (body.type !== 'root') throw new Error(`batch ${seq} of ${target} is no commit`)
  const { before, after } = body.change
  return { seq, before, after, changes: await diffPaths(stores.nodes, before, after) }
}
