import type { BranchId } from '@cairn/protocol'
import { decodeBatch } from '../history/batch.ts'
import type { Branch } from '../history/branch.ts'
import type { LogStore } from '../ports/log-store.ts'
import type { BranchRecord, NextBase } from '../ports/ref-store.ts'
import type { Stores } from '../ports/stores.ts'
import { layerSession } from './layer-state.ts'

/** What a layer stands on, as the logs say. */
export interface LayerBase extends Pick<BranchRecord, 'base' | 'resolutions'> {
  readonly baseSeq: number
  /** What its record does not say yet: a rebase, or a commit that did not close it. */
  readonly came: NextBase | undefined
  /** Under way, or cut off. */
  readonly open: readonly NextBase[]
}

type LayerStores = Pick<Stores, 'log' | 'refs'>
type Layer = Pick<Branch, 'id' | 'head'>

/**
 * A rebase is a batch in the layer's log, a commit one in its target's; what the layer stands on is in its record. So
 * where it will stand is noted first, and whoever asks looks whether the batch has come: no cut leaves a layer on a
 * base that its tree is not of.
 */
export async function findBase({ log, refs }: LayerStores, layer: Layer): Promise<LayerBase> {
  return readBase(log, layer, await refs.getBranch(layer.id))
}

/**
 * Notes where a layer will stand once a batch is in a log; called where that batch is decided. False when the layer has
 * come to stand elsewhere than `found` says: then what was merged is of no use.
 */
export async function noteNextBase(
  { log, refs }: LayerStores,
  layer: Layer,
  found: LayerBase,
  next: NextBase,
): Promise<boolean> {
  for (;;) {
    const record = await refs.getBranch(layer.id)
    const now = await readBase(log, layer, record)
    if (now.baseSeq !== found.baseSeq || now.base.root !== found.base.root) return false
    const others = now.open.filter((other) => !isSameBatch(other, next))
    if (await refs.updateBranch(standingOn(record, now, [...others, next]))) return true
  }
}

/** Writes down where a layer has come to stand. Again is fine. */
export async function settleBase({ log, refs }: LayerStores, layer: Layer): Promise<void> {
  for (;;) {
    const record = await refs.getBranch(layer.id)
    if (record.next.length === 0) return
    const now = await readBase(log, layer, record)
    if (await refs.updateBranch(standingOn(record, now, now.open))) return
  }
}

function standingOn(
  record: BranchRecord,
  { base, baseSeq, resolutions }: LayerBase,
  next: readonly NextBase[],
): BranchRecord {
  return { ...record, base, baseSeq, resolutions, next, version: record.version + 1 }
}

async function readBase(log: LogStore, layer: Layer, record: BranchRecord): Promise<LayerBase> {
  const open: NextBase[] = []
  let came: NextBase | undefined
  for (const next of record.next) {
    const isIn = await hasCome(log, layer.id, next)
    if (isIn === undefined) open.push(next)
    if (isIn && next.baseSeq >= (came?.baseSeq ?? 0)) came = next
  }
  // One that was closed is told by what it was when it was committed.
  if (came && came.branch !== layer.id && layer.head.position.state === 'committed')
    came = undefined
  if (came) return { base: came.base, baseSeq: came.baseSeq, resolutions: [], came, open }
  const { base, resolutions } = record
  return { base, baseSeq: await baseSeqOf(log, record), resolutions, came, open }
}

/** Undefined while nobody knows. Another batch in its place is somebody else's. */
async function hasCome(
  log: LogStore,
  layer: BranchId,
  { branch, seq, after }: NextBase,
): Promise<boolean | undefined> {
  const [row] = await log.read(branch, seq - 1, 1)
  if (!row) return undefined
  const { body } = decodeBatch(row.bytes)
  if (body.type !== 'root' || body.change.after.root !== after) return false
  const { cause, subject } = body.change
  return branch === layer ? cause === 'rebase' : cause === 'commit' && subject === layer
}

/** Older records do not say it. */
async function baseSeqOf(log: LogStore, { id, baseSeq }: BranchRecord): Promise<number> {
  if (baseSeq !== undefined) return baseSeq
  const session = layerSession('rebase', id)
  return (await log.find(id, session, await log.lastNumber(id, session)))?.seq ?? 0
}

function isSameBatch(a: NextBase, b: NextBase): boolean {
  return a.branch === b.branch && a.seq === b.seq && a.after === b.after
}
