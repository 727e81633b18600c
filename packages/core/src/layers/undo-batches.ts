import {
  type BranchId,
  CairnError,
  type Hash,
  isCairnError,
  isFsError,
  type Name,
} from '@cairn/protocol'
import { applyOp } from '../filesystem/apply.ts'
import { parseKey } from '../filesystem/keys.ts'
import { decodeBlock, decodeInode } from '../filesystem/values.ts'
import { type Batch, decodeInSteps, type RootChange } from '../history/batch.ts'
import type { Branch } from '../history/branch.ts'
import type { Author, Receipt } from '../history/draft.ts'
import { type KnownTree, replay, rowsOf } from '../history/replay.ts'
import type { Stores } from '../history/stores.ts'
import type { Op } from '../filesystem/op.ts'
import type { View } from '../filesystem/view.ts'
import type { FoldPoint, Snapshot } from '../ports/records.ts'
import { diff } from '../tree/diff.ts'
import { findBase } from './base.ts'
import { LayerConflictError } from './conflict-error.ts'
import { merge } from './merge.ts'
import { concerns } from './path-limit.ts'
import { noteTree } from './rollback.ts'
import { onceKnown } from './unknown-place.ts'

export interface UndoWish {
  /** Names it in errors and in the log. */
  readonly subject: string
  readonly isWanted: (batch: Batch) => boolean
  /** Only what they changed there. */
  readonly path?: readonly Name[] | undefined
  /** What the branch began with. */
  readonly start: Snapshot
}

/** What a run of batches did: the tree with it, and the tree without. */
interface Undone {
  readonly base: Snapshot
  readonly layer: Snapshot
}

/** The newest first. */
export interface UndoPlan {
  readonly wish: UndoWish
  readonly batches: number
  readonly undone: readonly Undone[]
}

interface Run {
  readonly first: number
  last: number
  hasRoot: boolean
}

/**
 * Finds what the wanted batches changed. The trees before and after them are made from the log, so this reads all of it.
 * Rejects with `nothing_to_undo` where there are none, or what was there before them is no longer stored.
 */
export async function planUndo(stores: Stores, branch: Branch, wish: UndoWish): Promise<UndoPlan> {
  const { runs, trees, batches } = await readLog(stores, branch, wish)
  if (batches === 0) throw nothingToUndo(wish, 'the log has no change of it')
  const undone: Undone[] = []
  try {
    for (const run of runs.toReversed())
      undone.push(await undoneBy(stores, branch.id, trees, run, wish))
  } catch (error) {
    if (isFsError(error))
      throw nothingToUndo(wish, 'its other changes build on what it did at the path', error)
    if (!isCairnError(error, 'node_missing') && !isCairnError(error, 'blob_missing')) throw error
    throw notStored(wish, error)
  }
  return { wish, batches, undone }
}

/**
 * The head without what was planned. Rejects with LayerConflictError where something else changed the same since, and with
 * `nothing_to_undo` where nothing would change.
 */
export async function undoOn(
  stores: Stores,
  { id }: Branch,
  head: Snapshot,
  { wish, undone }: UndoPlan,
): Promise<Snapshot> {
  const { nodes, blobs } = stores
  let target = head
  for (const { base, layer } of undone) {
    const sides = { base, layer, target }
    const result = await merge({ ...sides, nodes, blobs })
    if (result.type === 'conflicted')
      throw new LayerConflictError(id, result.conflicts, sides, {
        what: `undo ${wish.subject}`,
        hint: 'They were changed again since. Undo the rest with a narrower path, or undo the later changes first.',
      })
    target = result.snapshot
  }
  if (target.root === head.root) throw nothingToUndo(wish, 'nothing is left of what it did')
  await requireStored(stores, head.root, target.root, wish)
  return target
}

/** Takes back what was planned, in one batch. `check` sees what that does, in its turn, and refuses by rejecting. */
export function undoBatches(
  stores: Stores,
  branch: Branch,
  author: Author,
  plan: UndoPlan,
  { epoch, check }: { epoch: number; check: (before: Snapshot, after: Snapshot) => Promise<void> },
): Promise<Receipt> {
  const decide = async (point: FoldPoint): Promise<RootChange> => {
    const after = await undoOn(stores, branch, point.snapshot, plan)
    await check(point.snapshot, after)
    await noteTree(stores, branch, point, after.root, () => findBase(stores, branch))
    const { subject } = plan.wish
    return { cause: 'undo', before: point.snapshot, after, subject, message: '' }
  }
  return onceKnown(stores, [branch], author, () => branch.changeRoot(author, decide, epoch))
}

/** The wanted batches that follow each other, and trees to begin a replay with, both in the order of the log. */
async function readLog(
  stores: Stores,
  branch: Branch,
  { isWanted, start }: UndoWish,
): Promise<{ runs: readonly Run[]; trees: readonly KnownTree[]; batches: number }> {
  const { nodes, refs } = stores
  const runs: Run[] = []
  const trees: KnownTree[] = [{ seq: 0, snapshot: start }]
  trees.push(...(await refs.listCheckpoints(branch.id)))
  let open: Run | undefined
  let batches = 0
  for await (const { seq, bytes } of rowsOf(stores, branch.id, 0, branch.head.position.seq)) {
    if (nodes.pacer.isDue()) await nodes.pacer.rest()
    const batch = await nodes.run(decodeInSteps(bytes))
    const { body } = batch
    if (body.type === 'root')
      trees.push(
        { seq: seq - 1, snapshot: body.change.before },
        { seq, snapshot: body.change.after },
      )
    if (!changesFiles(batch)) continue
    if (!isWanted(batch)) open = undefined
    else {
      batches++
      if (!open) runs.push((open = { first: seq, last: seq, hasRoot: false }))
      open.last = seq
      open.hasRoot ||= body.type === 'root'
    }
  }
  return { runs, trees: trees.sort((a, b) => a.seq - b.seq), batches }
}

function changesFiles({ body }: Batch): boolean {
  return body.type === 'root' || (body.type === 'ops' && body.ops.length > 0)
}

async function undoneBy(
  stores: Stores,
  branch: BranchId,
  trees: readonly KnownTree[],
  { first, last, hasRoot }: Run,
  wish: UndoWish,
): Promise<Undone> {
  const { path } = wish
  const start = trees.findLast(({ seq }) => seq < first)
  if (!start) throw notStored(wish)
  const before = await replay(stores, branch, start, first - 1)
  const base = await replay(stores, branch, { seq: first - 1, snapshot: before }, last)
  if (path === undefined || path.length === 0) return { base, layer: before }
  if (hasRoot)
    throw nothingToUndo(
      wish,
      'a commit, rollback or undo among its changes cannot be taken back in part',
    )
  const layer = await replay(
    stores,
    branch,
    { seq: first - 1, snapshot: before },
    last,
    (changes, op) =>
      concerns(changes, op, path) || !isWhole(changes, op) ? undefined : applyOp(changes, op),
  )
  return { base, layer }
}

/** Whether everything is there that the operation is about: what was made at the path is not. */
function isWhole(view: View, op: Op): boolean {
  const inodes = [
    'parent' in op ? op.parent : undefined,
    'newParent' in op ? op.newParent : undefined,
    op.type === 'copy' ? op.from : undefined,
    'ino' in op && op.type !== 'create' ? op.ino : undefined,
  ]
  return inodes.every((ino) => ino === undefined || view.inode(ino) !== undefined)
}

/** A log that was trimmed names content that may be gone. Content that is stored is kept from now on. */
async function requireStored(
  { nodes, blobs }: Stores,
  before: Hash,
  after: Hash,
  wish: UndoWish,
): Promise<void> {
  for await (const change of diff(nodes, before, after)) {
    const { type } = parseKey(change.key)
    if (!change.after || (type !== 'inode' && type !== 'block')) continue
    const block =
      type === 'inode' ? decodeInode(change.after).content?.first : decodeBlock(change.after)
    if (block?.type === 'blob' && !(await blobs.touch(block.id))) throw notStored(wish)
  }
}

function notStored(wish: UndoWish, cause?: unknown): CairnError {
  return nothingToUndo(wish, 'what was there before it is no longer stored', cause)
}

function nothingToUndo({ subject }: UndoWish, reason: string, cause?: unknown): CairnError {
  return new CairnError('nothing_to_undo', {
    what: `undo ${subject}`,
    reason,
    subject,
    hint: 'See what it changed with: cairn fs log. Single files come back from a checkpoint: cairn fs cp --at.',
    cause,
  })
}
