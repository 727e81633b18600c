import type { Branch } from '@cairn/core'
import {
  type AccessOperation,
  allowsAll,
  type ByteString,
  CairnError,
  isCairnError,
} from '@cairn/protocol'
import { layerMissing } from '../points/errors.ts'
import {
  findCheckpoint,
  findLayer,
  findPoint,
  type LayerPlace,
  type Point,
  type PointQuery,
} from '../points/references.ts'
import type { Branches } from '../workspaces/branches.ts'
import type { Scope } from '../access/access.ts'
import { isShown, ownReference } from './layer-names.ts'

/** A layer that exists for a token: its own if it is bound to one, else those whose path it can see. */
export async function findScopedLayer(
  workspace: Branches,
  scope: Scope,
  reference: string,
): Promise<LayerPlace> {
  const meant = await ownReference(workspace, scope, reference)
  const place = await findOne(reference, () => findLayer(workspace, meant))
  if (isShown(scope.grant, place.id, pathOfPlace(place))) return place
  throw layerMissing(reference)
}

/** That there are several would tell of those that are not to be seen. */
async function findOne<T>(reference: string, find: () => Promise<T>): Promise<T> {
  try {
    return await find()
  } catch (error) {
    throw isCairnError(error, 'reference_ambiguous') ? layerMissing(reference) : error
  }
}

function pathOfPlace({ record }: LayerPlace): ByteString {
  return record?.path ?? '/'
}

/** What is done to a layer as a whole takes the right to all of its path. */
export async function requireLayer(
  workspace: Branches,
  scope: Scope,
  reference: string,
  operation: AccessOperation,
): Promise<LayerPlace> {
  const place = await findScopedLayer(workspace, scope, reference)
  requireWhole(scope, operation, pathOfPlace(place))
  return place
}

export function requireWhole({ grant }: Scope, operation: AccessOperation, path: ByteString): void {
  if (allowsAll(grant, operation, path)) return
  throw new CairnError('forbidden', {
    what: `do this to a layer of ${path}`,
    reason: `the token must allow ${operation} for all of it`,
    subject: path,
  })
}

/** What concerns other layers than its own is not for a token that is bound to one. */
export function requireUnbound({ grant }: Scope): void {
  if (grant.layer === undefined) return
  throw new CairnError('forbidden', {
    what: 'do this',
    reason: `the token is bound to layer ${grant.layer}`,
    subject: grant.layer,
  })
}

/** Where a request about files goes. A token that is bound to a layer means that one unless it says otherwise. */
export async function findScopedPoint(
  workspace: Branches,
  scope: Scope,
  { branch, layer, at, side }: PointQuery,
): Promise<Point> {
  const named = layer ?? branch ?? scope.grant.layer
  const wanted = named && (await ownReference(workspace, scope, named))
  if (side === 'target') requireUnbound(scope)
  if (wanted !== undefined) await findScopedLayer(workspace, scope, wanted)
  const point = await findOne(wanted ?? at ?? '', () =>
    findPoint(workspace, { layer: wanted, at, side }),
  )
  if (wanted === undefined && at !== undefined)
    await requireBranch(workspace, scope, point.branch, at)
  return point
}

/** A label alone may be that of any layer. */
async function requireBranch(
  { layers }: Pick<Branches, 'layers'>,
  { grant }: Scope,
  { id }: Branch,
  label: string,
): Promise<void> {
  const record = await layers.findByBranch(id)
  if (record && !isShown(grant, record.id, record.path)) throw layerMissing(label)
}

/** The ends of a comparison: of another layer only where that one exists for the token. */
export async function requireEnds(
  workspace: Branches,
  scope: Scope,
  layer: string,
  points: readonly (string | undefined)[],
): Promise<void> {
  const place = await findScopedLayer(workspace, scope, layer)
  for (const point of points) await requireEnd(workspace, scope, place, point)
}

async function requireEnd(
  workspace: Branches,
  scope: Scope,
  place: LayerPlace,
  point: string | undefined,
): Promise<void> {
  if (point === undefined || point === 'base' || point === 'head') return
  if (point === 'parent') return requireUnbound(scope)
  try {
    await findCheckpoint(workspace, place, point)
    return
  } catch (error) {
    if (!isCairnError(error, 'checkpoint_missing')) throw error
  }
  const at = point.lastIndexOf('@')
  await findScopedLayer(workspace, scope, at > 0 ? point.slice(0, at) : point)
}
