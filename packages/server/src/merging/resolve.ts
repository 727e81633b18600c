import { type Choice, namesOf, resolveConflict } from '@cairn/core'
import {
  CairnError,
  formatPath,
  type LayerConflict,
  type Name,
  type ResolveReceipt,
} from '@cairn/protocol'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import type { Asker } from '../workspaces/path-changes.ts'
import { atBarrier } from '../workspaces/barrier.ts'
import { describeConflict } from '../points/describe.ts'
import { conflictsOf, type RealPlace, mergeSidesOf } from './merge-sides.ts'
import { digest, once } from '../once/once.ts'
import { findRealLayer } from '../points/references.ts'

export interface ResolveOptions {
  /** Absolute, or relative to the layer's path. */
  readonly path: string
  readonly take: 'layer' | 'target' | Uint8Array
}

/** Decides all conflicts at a path, as they are with all that live mounts have acknowledged. The next commit or rebase goes by it. */
export async function resolve(
  workspace: OpenWorkspace,
  asker: Asker,
  reference: string,
  { path, take }: ResolveOptions,
): Promise<ResolveReceipt> {
  const options = { path, take: typeof take === 'string' ? take : digest(take) }
  return once(workspace, asker, { what: 'resolve', layer: reference, options }, async (key) => {
    const place = await findRealLayer(workspace, reference, 'resolve')
    const absolute = namesOf(path.startsWith('/') ? path : `${place.record.path}/${path}`)
    const choice: Choice =
      typeof take === 'string' ? { type: take } : { type: 'bytes', bytes: take }
    const resolved = await atBarrier(workspace, place.branch, () =>
      decideAt(workspace, place, absolute, choice, key),
    )
    // DURABLE: the decision stands for as long as the thing stays as it is.
    const left = await conflictsOf(workspace, await mergeSidesOf(workspace, place))
    return { layer: place.id, resolved, conflicts: left.map(describeConflict) }
  })
}

/** What it is about is noted first: decided already and asked for again after a cut, it is in conflict no more. */
async function decideAt(
  workspace: OpenWorkspace,
  place: RealPlace,
  path: readonly Name[],
  choice: Choice,
  key: string,
): Promise<readonly LayerConflict[]> {
  const { layers, info, stores } = workspace
  const [wanted, noteKey] = [path.join('/'), `decided:${key}`]
  const conflicts = await conflictsOf(workspace, await mergeSidesOf(workspace, place))
  const open = conflicts.filter(({ path, layer, target, base }) =>
    [path, layer?.path, target?.path, base?.path].some((each) => each?.join('/') === wanted),
  )
  if (open.length > 0)
    await layers.putAnswer(info.id, noteKey, JSON.stringify(open.map(describeConflict)))
  for (const { id: conflict } of open)
    await resolveConflict(stores, place.branch.id, { conflict, choice })
  const noted = await layers.findAnswer(info.id, noteKey)
  if (noted !== undefined) return JSON.parse(noted) as LayerConflict[]
  throw new CairnError('conflict_missing', {
    what: `resolve ${formatPath(path)} of layer ${place.id}`,
    reason: 'this path is not in conflict',
    subject: formatPath(path),
  })
}
