import { type Branch, type Checkpoint, findBase, sessionIds, type Snapshot } from '@cairn/core'
import { type BranchId, CairnError, type ConflictSideName } from '@cairn/protocol'
import type { Branches } from '../workspaces/branches.ts'
import { ambiguousReference, checkpointMissing, layerMissing } from './errors.ts'
import type { CheckpointLabel, LayerRecord } from '../ports/layer-store.ts'

/** A branch that a request named: a layer, or `main`. */
export interface LayerPlace {
  /** `main` or the layer's id. */
  readonly id: string
  readonly branch: Branch
  readonly record: LayerRecord | undefined
  /** Where the reference was the label of a checkpoint. */
  readonly checkpoint?: Checkpoint
}

const candidatesMax = 100

/** By id, name, tag `k=v` or a checkpoint's label. Rejects with `branch_missing` or `reference_ambiguous`. */
export async function findLayer(workspace: Branches, reference: string): Promise<LayerPlace> {
  const { layers, info } = workspace
  if (reference === 'main') return mainOf(workspace)
  const exact =
    (await layers.find(info.id, reference)) ??
    (await layers.findByName(info.id, reference)) ??
    (await findByBranch(workspace, reference))
  if (exact) return placeOf(workspace, exact)
  const tag = reference.replace(/^tag:/, '')
  const tagged = tag.includes('=') ? await findTagged(workspace, tag) : []
  if (tagged.length > 0) return placeOf(workspace, choose('layer', reference, tagged))
  return findByLabel(workspace, reference)
}

/** However many of the tag are over, they do not hide one that can be written to. */
async function findTagged(
  { layers, info }: Pick<Branches, 'layers' | 'info'>,
  tag: string,
): Promise<readonly LayerRecord[]> {
  const live: LayerRecord[] = []
  for (const state of ['open', 'conflicted'] as const)
    live.push(...(await layers.list(info.id, { tag, state }, undefined, candidatesMax)))
  return live.length > 0 ? live : layers.list(info.id, { tag }, undefined, candidatesMax)
}

/** Logs and rescues speak of branches. */
async function findByBranch(
  { layers, info }: Pick<Branches, 'layers' | 'info'>,
  branch: string,
): Promise<LayerRecord | undefined> {
  const record = await layers.findByBranch(branch as BranchId)
  return record?.workspace === info.id ? record : undefined
}

/** A layer that is not `main`. */
export async function findRealLayer(
  workspace: Branches,
  reference: string,
  verb: string,
): Promise<LayerPlace & { readonly record: LayerRecord }> {
  const place = await findLayer(workspace, reference)
  if (place.record) return { ...place, record: place.record }
  throw new CairnError('invalid_argument', {
    what: `${verb} main`,
    reason: 'main is what layers are made of, and is no layer itself',
    hint: 'Name a layer; list them with: cairn fs layer list.',
    subject: reference,
  })
}

/**
 * Where a layer's commit goes: to its parent or, once that is committed itself, to where its work went. One that has
 * been committed stays with the branch that took it.
 */
export async function targetOf(
  workspace: Branches,
  { branch, record }: LayerPlace & { readonly record: LayerRecord },
): Promise<LayerPlace> {
  const { log } = workspace.stores
  await branch.refresh()
  const isCommitted = branch.head.position.state === 'committed'
  const session = sessionIds.layerSession('commit', branch.id)
  for (let at = record; ;) {
    const parent = await findLayer(workspace, at.parent)
    if (!parent.record) return parent
    await parent.branch.refresh()
    const isTarget = isCommitted
      ? (await log.lastNumber(parent.branch.id, session)) > 0
      : parent.branch.head.position.state !== 'committed'
    if (isTarget) return parent
    at = parent.record
  }
}

export async function placeOf(workspace: Branches, record: LayerRecord): Promise<LayerPlace> {
  return { id: record.id, branch: await workspace.openBranch(record.branch), record }
}

async function mainOf(workspace: Branches): Promise<LayerPlace> {
  return { id: 'main', branch: await workspace.branch('main'), record: undefined }
}

async function findByLabel(workspace: Branches, label: string): Promise<LayerPlace> {
  const { layers, info, stores } = workspace
  const found: LayerRecord[] = []
  const labels = label === '' ? [] : await layers.findLabels(info.id, label)
  for (const { branch } of labels) {
    const record = await layers.findByBranch(branch)
    if (record && found.every(({ id }) => id !== record.id)) found.push(record)
  }
  const main = await mainOf(workspace)
  const onMain = labels.find(({ branch }) => branch === main.branch.id)
  if (found.length === 0 && !onMain) throw layerMissing(label)
  if (onMain && found.length > 0)
    throw ambiguousReference('layer', label, ['main', ...found.map(candidate)])
  const place = onMain ? main : await placeOf(workspace, choose('layer', label, found))
  const { id } = labels.find(({ branch }) => branch === place.branch.id)!
  return { ...place, checkpoint: await stores.refs.getCheckpoint(place.branch.id, id) }
}

/** What can still be written to is meant before what is over. */
function choose(what: string, reference: string, records: readonly LayerRecord[]): LayerRecord {
  const live = records.filter(({ state }) => state === 'open' || state === 'conflicted')
  const meant = live.length > 0 ? live : records
  if (meant.length === 1) return meant[0]!
  throw ambiguousReference(what, reference, meant.map(candidate))
}

function candidate({ id, name, state }: LayerRecord): string {
  return `${id} (${[name, state].filter((part) => part !== undefined).join(', ')})`
}

/** By id, label or tool call; `base` is what the layer stands on. */
export async function findCheckpoint(
  workspace: Branches,
  place: LayerPlace,
  reference: string,
): Promise<Checkpoint> {
  const { stores, layers } = workspace
  const { branch } = place
  if (reference === 'base') return baseOf(workspace, place)
  const labels = await layers.listLabels(branch.id)
  const exact = labels.find(({ id }) => id === reference)
  if (exact) return stores.refs.getCheckpoint(branch.id, exact.id)
  const meant = labels.filter(
    ({ label, toolCall }) => label === reference || toolCall === reference,
  )
  return chooseCheckpoint(workspace, place, reference, meant)
}

/** The checkpoint that was made for a call of an agent's tool, whatever others are called. */
export async function findToolCall(
  workspace: Branches,
  place: LayerPlace,
  call: string,
): Promise<Checkpoint> {
  const labels = await workspace.layers.listLabels(place.branch.id)
  const meant = labels.filter(({ toolCall }) => toolCall === call)
  return chooseCheckpoint(workspace, place, call, meant)
}

async function chooseCheckpoint(
  { stores }: Pick<Branches, 'stores'>,
  place: LayerPlace,
  reference: string,
  meant: readonly CheckpointLabel[],
): Promise<Checkpoint> {
  const { branch } = place
  if (meant.length === 1) return stores.refs.getCheckpoint(branch.id, meant[0]!.id)
  if (meant.length === 0) throw checkpointMissing(reference, place.id)
  throw ambiguousReference(
    'checkpoint',
    reference,
    meant.map(({ id }) => id),
  )
}

/** The name of what a layer stands on, among its checkpoints. */
export const baseId = 'base' as Checkpoint['id']

async function baseOf(
  { stores }: Pick<Branches, 'stores'>,
  { branch, record }: LayerPlace,
): Promise<Checkpoint> {
  if (!record) throw checkpointMissing('base', 'main')
  const { base: snapshot, baseSeq: seq } = await findBase(stores, branch)
  return { id: baseId, branch: branch.id, label: 'base', seq, snapshot, time: { sec: 0, nsec: 0 } }
}

export interface PointQuery {
  readonly branch?: string | undefined
  readonly layer?: string | undefined
  readonly at?: string | undefined
  readonly side?: ConflictSideName | undefined
}

/** What a request about files is about: a branch, or with `snapshot` what one was or is, to be read only. */
export interface Point {
  readonly branch: Branch
  readonly snapshot?: Snapshot
  /** Set for a checkpoint: its place in the log. */
  readonly seq?: number
}

export async function findPoint(
  workspace: Branches,
  { branch, layer, at, side }: PointQuery,
): Promise<Point> {
  if (layer === undefined && at === undefined && side === undefined)
    return { branch: await workspace.branch(branch ?? 'main') }
  const place = await findPlaceAt(workspace, layer ?? branch, at)
  if (side !== undefined) return findSide(workspace, place, side)
  const { checkpoint } = place
  if (!checkpoint) return { branch: place.branch }
  const { snapshot, seq } = checkpoint
  return { branch: place.branch, snapshot, ...(checkpoint.id === 'base' ? {} : { seq }) }
}

/** A branch, at one of its checkpoints if `at` names one. A label alone is enough where only one branch has it. */
export async function findPlaceAt(
  workspace: Branches,
  layer: string | undefined,
  at: string | undefined,
): Promise<LayerPlace> {
  if (at === undefined) return findLayer(workspace, layer ?? 'main')
  const place =
    layer === undefined ? await findBranchOf(workspace, at) : await findLayer(workspace, layer)
  return { ...place, checkpoint: await findCheckpoint(workspace, place, at) }
}

async function findBranchOf(workspace: Branches, at: string): Promise<LayerPlace> {
  const main = await mainOf(workspace)
  const isOnMain = (await workspace.layers.listLabels(main.branch.id)).some(
    ({ id, label, toolCall }) => [id, label, toolCall].includes(at),
  )
  return isOnMain ? main : findByLabel(workspace, at)
}

async function findSide(
  workspace: Branches,
  place: LayerPlace,
  side: ConflictSideName,
): Promise<Point> {
  const { branch, record } = place
  if (side === 'base') return { branch, snapshot: (await baseOf(workspace, place)).snapshot }
  const other =
    side === 'target' && record ? (await targetOf(workspace, { ...place, record })).branch : branch
  await other.refresh()
  return { branch, snapshot: (await other.fold()).snapshot }
}
