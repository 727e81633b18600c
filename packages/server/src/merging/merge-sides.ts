import { type Conflict, merge, type MergeResult, readLayer, type Snapshot } from '@cairn/core'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import { type LayerRecord, listAll } from '../ports/layer-store.ts'
import { mendState } from '../layers/layers.ts'
import { type LayerPlace, targetOf } from '../points/references.ts'

export type RealPlace = LayerPlace & { readonly record: LayerRecord }

/** A layer between what it stands on and what it would be committed to. */
export interface MergeSides {
  readonly base: Snapshot
  readonly layer: Snapshot
  readonly seq: number
  readonly target: Snapshot
  readonly parent: LayerPlace
  readonly resolutions: Parameters<typeof merge>[0]['resolutions'] & object
}

export async function mergeSidesOf(
  workspace: OpenWorkspace,
  place: RealPlace,
): Promise<MergeSides> {
  const parent = await targetOf(workspace, place)
  await place.branch.refresh()
  await parent.branch.refresh()
  const { base, resolutions, point } = await readLayer(workspace.stores, place.branch)
  const { snapshot: layer, seq } = point
  const { snapshot: target } = await parent.branch.fold()
  return { base, layer, seq, target, parent, resolutions }
}

/** What a commit would give now. The parent is not touched. */
export function tryMerge(
  { stores: { nodes, blobs } }: Pick<OpenWorkspace, 'stores'>,
  { base, layer, target, resolutions }: MergeSides,
  mergeText = false,
): Promise<MergeResult> {
  return merge({ base, layer, target, nodes, blobs, resolutions, mergeText })
}

export async function conflictsOf(
  workspace: OpenWorkspace,
  standing: MergeSides,
  mergeText = false,
): Promise<readonly Conflict[]> {
  if (standing.base.root === standing.target.root) return []
  const result = await tryMerge(workspace, standing, mergeText)
  return result.type === 'conflicted' ? result.conflicts : []
}

/** Other layers of the same parent that can still be written to. */
export async function siblingsOf(
  workspace: OpenWorkspace,
  { id, parent }: LayerRecord,
): Promise<readonly LayerRecord[]> {
  const { layers, info } = workspace
  const live: LayerRecord[] = []
  for (const state of ['open', 'conflicted'] as const)
    for (const noted of await listAll(layers, info.id, { parent, state })) {
      const record = noted.id === id ? noted : await mendState(workspace, noted)
      if (record.id !== id && record.closedAt === undefined) live.push(record)
    }
  return live
}
