import {
  type Conflict,
  diffPaths,
  findBase,
  merge,
  type MergeResult,
  type PathChange,
  type Snapshot,
} from '@cairn/core'
import type { Name } from '@cairn/protocol'
import type { Workspace } from '../workspaces/workspace.ts'
import { type LayerRecord, listAll } from './layer-store.ts'
import { mendState } from './layers.ts'
import { type LayerPlace, placeOf, targetOf } from './references.ts'

export type RealPlace = LayerPlace & { readonly record: LayerRecord }

/** A layer between what it stands on and what it would be committed to. */
export interface Standing {
  readonly base: Snapshot
  readonly layer: Snapshot
  readonly seq: number
  readonly target: Snapshot
  readonly parent: LayerPlace
  readonly resolutions: Parameters<typeof merge>[0]['resolutions'] & object
}

export async function standingOf(workspace: Workspace, place: RealPlace): Promise<Standing> {
  const parent = await targetOf(workspace, place)
  await place.branch.refresh()
  await parent.branch.refresh()
  const { snapshot: layer, seq } = await place.branch.fold()
  const { snapshot: target } = await parent.branch.fold()
  const { base, resolutions } = await findBase(workspace.stores, place.branch)
  return { base, layer, seq, target, parent, resolutions }
}

/** What a commit would give now. The parent is not touched. */
export function tryMerge(
  { stores: { nodes, blobs } }: Workspace,
  { base, layer, target, resolutions }: Standing,
  mergeText = false,
): Promise<MergeResult> {
  return merge({ base, layer, target, nodes, blobs, resolutions, mergeText })
}

export async function conflictsOf(
  workspace: Workspace,
  standing: Standing,
  mergeText = false,
): Promise<readonly Conflict[]> {
  if (standing.base.root === standing.target.root) return []
  const result = await tryMerge(workspace, standing, mergeText)
  return result.type === 'conflicted' ? result.conflicts : []
}

export interface Overlap {
  readonly path: readonly Name[]
  readonly with: string
  readonly name: string | undefined
  readonly kind: PathChange['kind']
}

/** A status must not take a minute where somebody has a thousand attempts. */
export const comparedMax = 100

/** Which of these paths the parent or a live sibling changed, too. */
export async function overlapsOf(
  workspace: Workspace,
  place: RealPlace,
  standing: Standing,
  changes: readonly PathChange[],
): Promise<readonly Overlap[]> {
  const { stores } = workspace
  const mine = new Set(changes.flatMap(pathsOf))
  const found: Overlap[] = []
  const compare = async (
    other: { readonly id: string; readonly name: string | undefined },
    base: Snapshot,
    head: Snapshot,
  ): Promise<void> => {
    if (mine.size === 0 || base.root === head.root) return
    for (const change of await diffPaths(stores.nodes, base, head))
      if (pathsOf(change).some((path) => mine.has(path)))
        found.push({ path: change.path, with: other.id, name: other.name, kind: change.kind })
  }
  const { parent } = standing
  await compare({ id: parent.id, name: parent.record?.name }, standing.base, standing.target)
  const siblings = await siblingsOf(workspace, place.record)
  // The newest: they are the ones that are being worked on.
  for (const record of siblings.slice(-comparedMax)) {
    const { branch } = await placeOf(workspace, record)
    await branch.refresh()
    const { base } = await findBase(stores, branch)
    await compare(record, base, (await branch.fold()).snapshot)
  }
  return found
}

/** Other layers of the same parent that can still be written to. */
export async function siblingsOf(
  workspace: Workspace,
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

/** A directory that only changed with what is in it is nobody's news. */
export function pathsOf({ path, from, kind, fileKind }: PathChange): string[] {
  if (fileKind === 'directory' && kind === 'mode') return []
  return [path.join('/'), ...(from ? [from.join('/')] : [])]
}
