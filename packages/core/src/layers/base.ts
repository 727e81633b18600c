import { type BranchId, CairnError, type Hash } from '@cairn/protocol'
import { decodeOutline } from '../history/batch.ts'
import type { Branch } from '../history/branch.ts'
import type { FoldPoint } from '../ports/records.ts'
import type { LogStore } from '../ports/log-store.ts'
import type { BranchRecord, NextBase } from '../ports/ref-store.ts'
import type { Stores } from '../history/stores.ts'
import { layerSession } from '../history/session-ids.ts'
import { UnknownPlaceError } from './unknown-place.ts'

/** What a layer stands on, as the logs say. */
export interface LayerBase extends Pick<BranchRecord, 'base' | 'resolutions'> {
  readonly baseSeq: number
  /** As `BranchRecord` has it. */
  readonly firstBase: Hash | undefined
  /** What its record does not say yet: a rebase, or a commit that did not close it. */
  readonly came: NextBase | undefined
  /** Under way, or cut off. */
  readonly open: readonly NextBase[]
}

/** A layer's tree and what it stands on. */
interface StandingLayer extends LayerBase {
  readonly point: FoldPoint
}

type LayerStores = Pick<Stores, 'log' | 'refs'>
type Layer = Pick<Branch, 'id' | 'head'>

/**
 * Reads a layer's tree and base as one value. An old tree over a new base would say that the layer deleted everything
 * that the new base brought.
 */
export async function readLayer(
  stores: LayerStores,
  layer: Branch,
  fold: () => Promise<FoldPoint> = () => layer.fold(),
): Promise<StandingLayer> {
  for (;;) {
    const point = await fold()
    const found = await findBase(stores, layer)
    if (found.baseSeq <= point.seq) return { ...found, point }
    // The base has moved since the fold, perhaps by another server.
    await layer.refresh()
  }
}

/**
 * Finds what a layer stands on. A rebase is a batch in the layer's log, a commit one in its target's, and the base is in
 * the layer's record. So the next base is noted in the record first, and counts once its batch is in the log: a crash in
 * between leaves no layer on a base that its tree does not belong to.
 */
export async function findBase({ log, refs }: LayerStores, layer: Layer): Promise<LayerBase> {
  return readBase(log, layer, await refs.getBranch(layer.id))
}

/**
 * Notes a batch that moves the base or puts the layer on another tree, before the batch is appended. Called where that
 * batch is decided. False when the base is no longer the one in `found`: merge again.
 *
 * A commit and a change of the layer itself go to two logs, so neither append can refuse the other. The record can: of
 * two, the second to note finds the first, and rejects with `UnknownPlaceError` until that one is in its log or cannot
 * come any more.
 *
 * `headSince` is set for a commit of the layer's head: it rejects with `checkpoint_outdated` when the layer was put on
 * another tree after that place in its log.
 */
export async function noteNextBase(
  { log, refs }: LayerStores,
  layer: Layer,
  found: LayerBase,
  next: NextBase,
  headSince?: number,
): Promise<boolean> {
  for (;;) {
    const record = await refs.getBranch(layer.id)
    const now = await readBase(log, layer, record)
    if (!isSameBase(now, found)) return false
    const elsewhere = now.open.find(({ branch }) => branch !== next.branch)
    if (elsewhere) throw new UnknownPlaceError(elsewhere)
    if (headSince !== undefined && (await hasOtherTree(log, layer.id, headSince)))
      throw outdated(layer.id, 'its head')
    const others = now.open.filter((other) => !isSameBatch(other, next))
    // The base itself stays as it is: this batch may lose against one that closes the layer.
    const kept = now.came ? [now.came, ...others, next] : [...others, next]
    if (await refs.updateBranch({ ...record, next: kept, version: record.version + 1 })) return true
  }
}

/** Writes down where a layer has come to stand. Again is fine. */
export async function settleBase({ log, refs }: LayerStores, layer: Layer): Promise<void> {
  for (;;) {
    const record = await refs.getBranch(layer.id)
    if (record.next.length === 0) return
    const { came: _, open: next, ...now } = await readBase(log, layer, record)
    const settled = { ...record, ...now, next, version: record.version + 1 }
    if (await refs.updateBranch(settled)) return
  }
}

export function isSameBase(one: LayerBase, other: LayerBase): boolean {
  return one.baseSeq === other.baseSeq && one.base.root === other.base.root
}

export function outdated(layer: BranchId, checkpoint: string): CairnError {
  return new CairnError('checkpoint_outdated', {
    what: `use ${checkpoint} of layer ${layer}`,
    reason: 'the layer was rebased, committed or rolled back since',
    subject: checkpoint,
  })
}

async function readBase(log: LogStore, layer: Layer, record: BranchRecord): Promise<LayerBase> {
  const open: NextBase[] = []
  const came: NextBase[] = []
  for (const next of record.next) {
    const isIn = await hasCome(log, layer.id, next)
    if (isIn === undefined) open.push(next)
    if (isIn) came.push(next)
  }
  const isOwn = ({ branch }: NextBase): boolean => branch === layer.id
  // A closed layer is shown with what its last commit was over.
  if (layer.head.position.state === 'committed') {
    const last = came.findLast((next) => !isOwn(next))
    if (last) came.splice(came.indexOf(last), 1)
  }
  const { base, firstBase, resolutions } = record
  const baseSeq = await baseSeqOf(log, record)
  let now: LayerBase = { base, firstBase, baseSeq, resolutions, came: undefined, open }
  for (const next of came) {
    // A commit that lands late may be of a place before the last rebase. Of a rebase itself, the commit comes after it.
    const isNewer = isOwn(next) ? next.baseSeq > now.baseSeq : next.baseSeq >= now.baseSeq
    if (!isNewer) continue
    const firstBase = isOwn(next) ? undefined : (now.firstBase ?? now.base.root)
    const { base, baseSeq } = next
    now = { base, firstBase, baseSeq, resolutions: [], came: next, open }
  }
  return now
}

/** Undefined while its place in the log is free. Another batch in that place belongs to another session. */
async function hasCome(
  log: LogStore,
  layer: BranchId,
  next: NextBase,
): Promise<boolean | undefined> {
  const { branch, seq, after } = next
  const [row] = await log.read(branch, seq - 1, 1)
  if (!row) return undefined
  const { body } = decodeOutline(row.bytes)
  if (body.type !== 'root' || body.change.after.root !== after) return false
  const { cause, subject } = body.change
  return branch === layer
    ? cause === 'rebase' && !keepsBase(next)
    : cause === 'commit' && subject === layer
}

/** A rollback, which is noted only so that a commit sees it. */
function keepsBase({ baseSeq, seq }: NextBase): boolean {
  return baseSeq !== seq
}

/** Whether a layer was put on another tree after a place in its log. */
async function hasOtherTree(log: LogStore, layer: BranchId, since: number): Promise<boolean> {
  for (let seq = since; ;) {
    const rows = await log.read(layer, seq, rowsAtOnce)
    if (rows.some(({ bytes }) => decodeOutline(bytes).body.type === 'root')) return true
    if (rows.length === 0) return false
    seq = rows.at(-1)!.seq
  }
}

const rowsAtOnce = 64

/** Older records do not say it. */
async function baseSeqOf(log: LogStore, { id, baseSeq }: BranchRecord): Promise<number> {
  if (baseSeq !== undefined) return baseSeq
  const session = layerSession('rebase', id)
  return (await log.find(id, session, await log.lastNumber(id, session)))?.seq ?? 0
}

function isSameBatch(a: NextBase, b: NextBase): boolean {
  return a.branch === b.branch && a.seq === b.seq && a.after === b.after
}
