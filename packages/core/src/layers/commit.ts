import { type BranchId, isCairnError, type SessionId } from '@cairn/protocol'
import type { Snapshot } from '../filesystem/tree-view.ts'
import { type BranchState, decodeBatch } from '../history/batch.ts'
import type { Branch } from '../history/branch.ts'
import type { Author } from '../history/draft.ts'
import type { FoldPoint } from '../history/head.ts'
import type { BranchRecord } from '../ports/ref-store.ts'
import type { Stores } from '../ports/stores.ts'
import { LayerConflictError } from './conflict-error.ts'
import { merge } from './merge.ts'
import { diffPaths, type PathChange } from './path-changes.ts'
import type { Resolution } from './resolution.ts'
import type { MergeInput } from './touched.ts'

export interface LayerOptions {
  readonly layer: Branch
  /** The layer's parent. */
  readonly target: Branch
  readonly author: Pick<Author, 'actor' | 'time'>
  readonly message?: string
  /** Merge files that both sides edited line by line, where the lines allow it. */
  readonly mergeText?: boolean
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
  const point = await layer.fold()
  // Closing the layer was one more entry of its log.
  const author = authorOf(
    options,
    'commit',
    point.state === 'committed' ? point.seq - 1 : point.seq,
  )
  try {
    const { seq } = await target.changeRoot(author, async ({ snapshot: before }) => {
      const input = { base: record.base, layer: point.snapshot, target: before }
      const after = await mergeOrThrow(stores, options, record, input)
      return { cause: 'commit', before, after, subject: layer.id, message }
    })
    // DURABLE: the target's log has the commit; what follows can be done again.
    await closeLayer(stores, options, point)
    return await readReceipt(stores, target.id, seq)
  } catch (error) {
    if (isCairnError(error, 'layer_conflict')) await trySetState(options, 'conflicted', point)
    throw error
  }
}

/** Puts a layer's changes on top of its parent's head, which becomes its base. */
export async function rebaseLayer(stores: Stores, options: LayerOptions): Promise<void> {
  const { layer, target, message = '' } = options
  const record = await stores.refs.getBranch(layer.id)
  const onto = (await target.fold()).snapshot
  const author = authorOf(options, 'rebase', layer.head.position.seq)
  await layer.changeRoot(author, async ({ snapshot: before }) => {
    const input = { base: record.base, layer: before, target: onto }
    const after = await mergeOrThrow(stores, options, record, input)
    return { cause: 'rebase', before, after, subject: target.id, message }
  })
  await updateRecord(stores, layer.id, () => ({ base: onto, resolutions: [] }))
  await trySetState(options, 'open', layer.head.position)
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

/** Gives a layer up. Its history stays until it is collected; `reopenLayer` brings it back. */
export async function abandonLayer(layer: Branch, author: LayerOptions['author']): Promise<void> {
  await setState({ layer, author }, 'abandoned', layer.head.position.seq)
}

export async function reopenLayer(layer: Branch, author: LayerOptions['author']): Promise<void> {
  await setState({ layer, author }, 'open', layer.head.position.seq)
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
  if (result.type === 'conflicted') throw new LayerConflictError(layer.id, result.conflicts)
  return result.snapshot
}

/** One number for one state of the layer: asking again for the same gives the first answer again. */
function authorOf(
  { layer, author }: Pick<LayerOptions, 'layer' | 'author'>,
  what: string,
  seq: number,
): Author {
  return { ...author, session: `${what}:${layer.id}` as SessionId, number: seq + 1 }
}

async function closeLayer(stores: Stores, options: LayerOptions, point: FoldPoint): Promise<void> {
  if (options.layer.head.position.state === 'committed') return
  if (await trySetState(options, 'committed', point)) return
  await updateRecord(stores, options.layer.id, () => ({ base: point.snapshot, resolutions: [] }))
}

/** False when the layer has been written to since. */
async function trySetState(
  options: Pick<LayerOptions, 'layer' | 'author'>,
  state: BranchState,
  { seq }: { readonly seq: number },
): Promise<boolean> {
  if (options.layer.head.position.state === state) return true
  try {
    await setState(options, state, seq)
    return true
  } catch (error) {
    if (isCairnError(error, 'sequence_conflict')) return false
    throw error
  }
}

async function setState(
  options: Pick<LayerOptions, 'layer' | 'author'>,
  state: BranchState,
  seq: number,
): Promise<void> {
  await options.layer.changeState(authorOf(options, 'state', seq), state, seq)
}

async function updateRecord(
  stores: Stores,
  id: BranchId,
  change: (record: BranchRecord) => Partial<BranchRecord>,
): Promise<void> {
  for (;;) {
    const record = await stores.refs.getBranch(id)
    const updated = { ...record, ...change(record), version: record.version + 1 }
    if (await stores.refs.updateBranch(updated)) return
  }
}

async function readReceipt(stores: Stores, target: BranchId, seq: number): Promise<CommitReceipt> {
  const [row] = await stores.log.read(target, seq - 1, 1)
  const { body } = decodeBatch(row!.bytes)
  if (body.type !== 'root') throw new Error(`batch ${seq} of ${target} is no commit`)
  const { before, after } = body.change
  return { seq, before, after, changes: await diffPaths(stores.nodes, before, after) }
}
