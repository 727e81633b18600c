import { randomUUID } from 'node:crypto'
import { abandonLayer, findClosedState, forkBranch, isClosedState, reopenLayer } from '@cairn/core'
import { type BranchId, CairnError, isCairnError, type LayerInfo, type Page } from '@cairn/protocol'
import { freeName } from './layer-names.ts'
import { exactTime, isoTime } from '../ports/clock.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import type { Asker } from '../workspaces/path-changes.ts'
import { describeExpiry } from './expiry.ts'
import { atBarrier } from '../workspaces/barrier.ts'
import { describeLayer } from '../points/describe.ts'
import {
  cursorOf,
  type LayerFilter,
  type LayerRecord,
  listAll,
  recordsAtOnce,
  shownName,
} from '../ports/layer-store.ts'
import { layerMissing, nameTaken } from '../points/errors.ts'
import { once } from '../once/once.ts'
import { changeSettings, hasSettings, type SettingsEdit } from '../workspaces/quotas.ts'
import { findLayer, findRealLayer, type LayerPlace, placeOf } from '../points/references.ts'
import { findStart, type StartOptions, takeWork } from '../points/starting-point.ts'

export interface CreateOptions extends StartOptions {
  readonly id?: string | undefined
  readonly name?: string | undefined
  readonly tags?: Readonly<Record<string, string>> | undefined
  readonly message?: string | undefined
  readonly maxBytes?: number | undefined
  readonly maxFiles?: number | undefined
  readonly autoCheckpointMs?: number | undefined
}

/**
 * Opens a branch on a frozen base: two rows, whatever the size of the tree. One that stages an import has a branch that
 * says so: the collector deletes it where a server ended in the middle.
 */
export async function createLayer(
  workspace: OpenWorkspace,
  asker: Asker,
  options: CreateOptions,
  stages?: 'import',
): Promise<LayerInfo> {
  return once(workspace, asker, { what: 'create a layer', options }, async (key) => {
    const { layers, info, stores } = workspace
    const id = options.id ?? `ly_${key}`
    // An attempt that was cut off before its answer was noted.
    const made = await layers.find(info.id, id)
    if (made && isSameRequest(made, asker, options)) return describeLayer(made)
    if ((await freeName(workspace, asker, id)) !== id) throw nameTaken(id)
    const name =
      options.name === undefined ? undefined : await freeName(workspace, asker, options.name)
    const { parent, path, base, seq, work } = await findStart(workspace, options)
    // Each attempt has its own: the loser of a race for the id must not touch the winner's.
    const branch = `${info.id}/layer-${stages ? `${stages}-` : ''}${randomUUID()}` as BranchId
    await forkBranch(stores, branch, base, parent.branch.id)
    if (work) await takeWork(workspace, asker, branch, work)
    const record: LayerRecord = {
      workspace: info.id,
      id,
      branch,
      name,
      parent: parent.id,
      path,
      tags: options.tags ?? {},
      state: 'open',
      message: options.message ?? '',
      createdBy: asker.actor,
      createdAt: exactTime(workspace.clock.now()),
      originRoot: base.root,
      originSeq: seq,
      version: 1,
    }
    const { maxBytes, maxFiles, autoCheckpointMs } = options
    const settings = { maxBytes, maxFiles, autoCheckpointMs }
    if (!(await layers.create(record))) {
      const winner = await layers.find(info.id, id)
      if (winner && isSameRequest(winner, asker, options)) return describeLayer(winner)
      const isParentGone = !(await isThere(workspace, parent))
      throw isParentGone ? layerMissing(parent.id) : nameTaken(options.name ?? id)
    }
    if (hasSettings(settings)) await layers.putSettings(info.id, id, settings)
    // DURABLE: the layer can be found.
    return describeLayer(record)
  })
}

async function isThere(
  { layers, info }: Pick<OpenWorkspace, 'layers' | 'info'>,
  { id, record }: LayerPlace,
): Promise<boolean> {
  return !record || (await layers.find(info.id, id)) !== undefined
}

/** Whether it came without a key, or again under one with the same options. */
function isSameRequest(made: LayerRecord, asker: Asker, options: CreateOptions): boolean {
  if (options.id === undefined) return true
  const isRepeated = asker.idempotencyKey !== undefined && made.createdBy === asker.actor
  const isNamed = made.name !== undefined && shownName(made.name) === options.name
  return (
    isRepeated &&
    (isNamed || made.name === options.name) &&
    made.path === (options.path ?? made.path)
  )
}

export async function listLayers(
  workspace: OpenWorkspace,
  filter: LayerFilter,
  cursor: string | undefined,
  limit: number,
  isShown: IsShown = () => true,
): Promise<Page<LayerInfo>> {
  const parent =
    filter.parent === undefined ? undefined : (await findLayer(workspace, filter.parent)).id
  const records = await listShown(workspace, { ...filter, parent }, cursor, limit + 1, isShown)
  const shown = records.slice(0, limit)
  const items: LayerInfo[] = []
  for (const noted of shown) {
    const record = await mendState(workspace, noted)
    if (record.state !== (filter.state ?? record.state)) continue
    items.push({ ...describeLayer(record), ...(await describeExpiry(workspace, record)) })
  }
  return records.length > limit ? { items, next: cursorOf(shown.at(-1)!) } : { items }
}

/** Whether a layer exists for the caller. */
type IsShown = (record: LayerRecord) => boolean

/** Looks on behind what is hidden: neither the length of a page nor its cursor tells of it. */
async function listShown(
  { layers, info }: Pick<OpenWorkspace, 'layers' | 'info'>,
  filter: LayerFilter,
  cursor: string | undefined,
  count: number,
  isShown: IsShown,
): Promise<readonly LayerRecord[]> {
  const shown: LayerRecord[] = []
  for (let after = cursor; shown.length < count;) {
    const page = await layers.list(info.id, filter, after, Math.max(count, recordsAtOnce))
    shown.push(...page.filter(isShown))
    if (page.length < Math.max(count, recordsAtOnce)) break
    after = cursorOf(page.at(-1)!)
  }
  return shown.slice(0, count)
}

export interface LayerEdit extends SettingsEdit {
  readonly name?: string | undefined
  readonly message?: string | undefined
  /** An empty value is a value; null takes the tag away. Tags that are not named stay. */
  readonly tags?: Readonly<Record<string, string | null>> | undefined
}

export async function editLayer(
  workspace: OpenWorkspace,
  asker: Asker,
  reference: string,
  edit: LayerEdit,
): Promise<LayerInfo> {
  return once(
    workspace,
    asker,
    { what: 'change a layer', layer: reference, options: edit },
    async () => {
      const { record } = await findRealLayer(workspace, reference, 'rename')
      const { name } = edit
      const isOld = name === undefined || (record.name && shownName(record.name) === name)
      const free = isOld ? record.name : await freeName(workspace, asker, name)
      const changed = await updateRecord(workspace, record.id, (before) => ({
        ...(free === undefined ? {} : { name: free }),
        ...(edit.message === undefined ? {} : { message: edit.message }),
        tags: withTags(before.tags, edit.tags ?? {}),
      }))
      const { maxBytes, maxFiles, autoCheckpointMs } = edit
      const settings = { maxBytes, maxFiles, autoCheckpointMs }
      if (hasSettings(settings)) await changeSettings(workspace, record.id, settings)
      return describeLayer(changed)
    },
  )
}

function withTags(
  before: LayerRecord['tags'],
  edit: NonNullable<LayerEdit['tags']>,
): LayerRecord['tags'] {
  const tags = Object.entries({ ...before, ...edit })
  return Object.fromEntries(tags.filter(([, value]) => value !== null)) as LayerRecord['tags']
}

/** Retries when a concurrent update wins. */
async function updateRecord(
  { layers, info }: Pick<OpenWorkspace, 'layers' | 'info'>,
  id: string,
  change: (record: LayerRecord) => Partial<LayerRecord>,
): Promise<LayerRecord> {
  for (;;) {
    const record = await layers.find(info.id, id)
    if (!record)
      throw new CairnError('branch_missing', {
        what: `change layer ${id}`,
        reason: 'it was deleted',
        subject: id,
      })
    const changed = { ...record, ...change(record), version: record.version + 1 }
    if (await layers.update(changed)) return changed
    const { name } = changed
    const other = name === undefined ? undefined : await layers.findByName(info.id, name)
    if (other && other.id !== id) throw nameTaken(name!)
  }
}

/** With the state that the log has: a server may have ended before it noted that it closed the layer, or reopened it. */
export async function mendState(
  workspace: OpenWorkspace,
  record: LayerRecord,
): Promise<LayerRecord> {
  if (record.state === 'committed') return record
  const closed = await findClosedState(workspace.stores.log, record.branch)
  if ((closed !== undefined) === (record.state === 'abandoned')) return record
  const place = await placeOf(workspace, record)
  await place.branch.refresh()
  return noteState(workspace, place)
}

/** Writes down the state that the log has, for listings. */
export async function noteState(workspace: OpenWorkspace, place: LayerPlace): Promise<LayerRecord> {
  const { state } = place.branch.head.position
  if (place.record!.state === state) return place.record!
  const closedAt = isClosedState(state) ? isoTime(workspace.clock.now()) : undefined
  return updateRecord(workspace, place.id, () => ({ state, closedAt }))
}

/** After something that is done, whatever became of the layer since. */
export async function noteStateIfThere(workspace: OpenWorkspace, place: LayerPlace): Promise<void> {
  try {
    await noteState(workspace, place)
  } catch (error) {
    if (!isCairnError(error, 'branch_missing')) throw error
  }
}

export async function abandon(
  workspace: OpenWorkspace,
  asker: Asker,
  reference: string,
): Promise<LayerInfo> {
  return once(workspace, asker, { what: 'abandon', layer: reference }, async () => {
    const place = await findRealLayer(workspace, reference, 'abandon')
    await abandonPlace(workspace, asker, place)
    return describeLayer(await noteState(workspace, place))
  })
}

/** What a live mount has acknowledged is in the layer first: it may be reopened. */
export async function abandonPlace(
  workspace: OpenWorkspace,
  { actor, toolCall }: Asker,
  { branch }: LayerPlace,
): Promise<void> {
  await atBarrier(workspace, branch, (epoch) =>
    abandonLayer(branch, { actor, toolCall, time: workspace.clock.now() }, epoch),
  )
}

export async function reopen(
  workspace: OpenWorkspace,
  asker: Asker,
  reference: string,
): Promise<LayerInfo> {
  return once(workspace, asker, { what: 'reopen', layer: reference }, async () => {
    const place = await findRealLayer(workspace, reference, 'reopen')
    await place.branch.refresh()
    const { actor, toolCall } = asker
    await reopenLayer(place.branch, { actor, toolCall, time: workspace.clock.now() })
    return describeLayer(await noteState(workspace, place))
  })
}

/** Gives the ids of what was deleted, children first. */
export async function deleteLayer(
  workspace: OpenWorkspace,
  asker: Asker,
  reference: string,
  cascade: boolean,
): Promise<{ readonly deleted: readonly string[] }> {
  return once(
    workspace,
    asker,
    { what: 'delete', layer: reference, options: { cascade } },
    async () => {
      const place = await findRealLayer(workspace, reference, 'delete')
      const deleted: string[] = []
      await deleteTree(workspace, asker, place, cascade, deleted)
      return { deleted }
    },
  )
}

async function deleteTree(
  workspace: OpenWorkspace,
  asker: Asker,
  place: LayerPlace,
  cascade: boolean,
  deleted: string[],
): Promise<void> {
  const { layers, info, clock } = workspace
  const { head } = place.branch
  await place.branch.refresh()
  const wasOpen = !isClosedState(head.position.state)
  do {
    const children = await childrenOf(workspace, place.id)
    if (children.length > 0 && !cascade) {
      // A layer was made on it since it was given up.
      if (wasOpen) await reopenLayer(place.branch, { actor: asker.actor, time: clock.now() })
      throw inUse(place.id, children)
    }
    for (const child of children)
      await deleteTree(workspace, asker, await placeOf(workspace, child), cascade, deleted)
    if (!isClosedState(head.position.state)) await giveUp(workspace, asker, place)
    await layers.remove(info.id, place.id, isoTime(clock.now()))
  } while (await isThere(workspace, place))
  workspace.forgetBranch(place.branch.id)
  deleted.push(place.id)
}

/** One that was committed meanwhile is over, too. */
async function giveUp(workspace: OpenWorkspace, asker: Asker, place: LayerPlace): Promise<void> {
  try {
    await abandonPlace(workspace, asker, place)
  } catch (error) {
    if (!isCairnError(error, 'layer_closed')) throw error
  }
}

function inUse(layer: string, children: readonly LayerRecord[]): CairnError {
  return new CairnError('layer_in_use', {
    what: `delete layer ${layer}`,
    reason: `other layers were made from it: ${children.map(({ name, id }) => name ?? id).join(', ')}`,
    subject: layer,
  })
}

function childrenOf(
  { layers, info }: Pick<OpenWorkspace, 'layers' | 'info'>,
  parent: string,
): Promise<readonly LayerRecord[]> {
  return listAll(layers, info.id, { parent })
}

/** From the layer that stands on main to this one. */
export async function chainOf(
  workspace: OpenWorkspace,
  reference: string,
): Promise<readonly LayerInfo[]> {
  const chain: LayerInfo[] = []
  let { record } = await findLayer(workspace, reference)
  while (record) {
    chain.unshift(describeLayer(record))
    record = await workspace.layers.find(workspace.info.id, record.parent)
  }
  return chain
}
