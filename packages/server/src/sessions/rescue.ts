import {
  Branch,
  commitLayer,
  decodeBodyInSteps,
  diffPaths,
  forkBranch,
  isBelow,
  type Limits,
  namesOf,
  noUsage,
  type Op,
  type PathChange,
  type Snapshot,
  type Steps,
  type Usage,
  type View,
} from '@cairn/core'
import {
  type ActorId,
  type BranchId,
  CairnError,
  type ErrorCode,
  isCairnError,
  type RescueOutcome,
  type SessionId,
  type SessionRequest,
} from '@cairn/protocol'
import { requireChanges } from '../access/merged-changes.ts'
import type { SessionScope } from '../access/session-scope.ts'
import { baseUsage } from '../workspaces/quotas.ts'
import { keepRescueLayer } from '../layers/rescue-layer.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import { findEpochEnd, requireHeld } from '../leases/epoch-end.ts'
import type { LeaseKeeper } from '../leases/lease-keeper.ts'

export type RescueRequest = Extract<SessionRequest, { type: 'rescue' }>

interface RescuePlace {
  readonly workspace: OpenWorkspace
  readonly branch: Branch
  readonly keeper: LeaseKeeper
  readonly actor: ActorId
  readonly scope?: SessionScope
}

/** Why a branch does not take a rescue layer. The owner decides. */
const kept: readonly ErrorCode[] = [
  'layer_conflict',
  'quota_exceeded',
  'layer_closed',
  'forbidden',
  'outside_layer',
]

/**
 * Takes in what a session had acknowledged and the branch did not take: under a lease it lost, mostly. The operations
 * go to a layer based on what the server had of that session when its epoch ended: there they fit, whatever others did
 * since. A request without a body ends it: the layer is committed if nothing conflicts and the session may do today
 * what the commit does, and kept for the owner otherwise.
 */
export async function rescue(
  place: RescuePlace,
  session: SessionId,
  request: RescueRequest,
): Promise<RescueOutcome> {
  await requireHeld(place.workspace.stores, place.branch, session, request.epoch)
  await place.keeper.forfeit(session, request.epoch)
  const layer = await openRescueLayer(place, session, request.epoch)
  if (request.body.length > 0) {
    await takeLate(place, layer, session, request)
    await keepRescueLayer(place.workspace, layer, place.branch, place.actor)
    // DURABLE: the late writes are in the layer's log, and a user can find them.
    return { result: 'kept', layer: layer.id }
  }
  const result = (await tryCommit(place, layer)) ? 'committed' : 'kept'
  await keepRescueLayer(place.workspace, layer, place.branch, place.actor)
  return { result, layer: layer.id }
}

async function takeLate(
  place: RescuePlace,
  layer: Branch,
  session: SessionId,
  { number, body }: RescueRequest,
): Promise<void> {
  const { actor, scope } = place
  const { nodes } = place.workspace.stores
  const { time, ops, toolCall } = await nodes.run(decodeBodyInSteps(body))
  const { epoch } = layer.head.position
  const { check, added } = checkOf(place, ops)
  const limits = (): Promise<Limits | undefined> => limitsOf(place, layer)
  const charge = scope?.budget && (() => scope.budget!.chargeOf(added()))
  const author = { session, number, actor, time, toolCall }
  await layer.submit({ ...author, epoch, ops, check, limits, charge })
}

/** `added` is nothing until the check has run: what is in the layer already is not counted twice. */
function checkOf(
  { workspace, scope }: RescuePlace,
  ops: readonly Op[],
): { readonly check: (view: View) => Promise<void>; readonly added: () => Usage } {
  const areStored = workspace.storedBlobs.checkOf(ops)
  let added = noUsage
  const check = async (view: View): Promise<void> => {
    await scope?.requireStored(ops)
    await areStored?.()
    if (!scope) return
    const read = <T>(work: () => Steps<T>): Promise<T> => workspace.stores.nodes.readSteps(work)
    added = await scope.requireAll(view, ops, read, { isLate: true })
    await scope.budget?.requireOverdraft(added)
  }
  return { check, added: () => added }
}

/**
 * A holder acknowledged by the quota of its time, which may be another today. So late writes may add as much as the
 * whole quota, and no more: a rescue layer must not fill the store.
 */
async function limitsOf(
  { workspace, branch }: RescuePlace,
  layer: Branch,
): Promise<Limits | undefined> {
  const limits = await workspace.quotas.limitsOf(branch, true)
  if (!limits) return undefined
  const base = await baseUsage(workspace, layer)
  return { bytes: base.bytes + limits.bytes, files: base.files + limits.files }
}

async function openRescueLayer(
  { workspace, branch }: RescuePlace,
  session: SessionId,
  epoch: number,
): Promise<Branch> {
  const id = `${branch.id}/rescue-${session}-${epoch}` as BranchId
  const { snapshot } = await findEpochEnd(workspace.stores, branch, epoch)
  try {
    await forkBranch(workspace.stores, id, snapshot, branch.id)
  } catch (error) {
    if (!isCairnError(error, 'branch_exists')) throw error
  }
  return Branch.open(workspace.stores, id)
}

/** A commit is a write: the holder of the lease hands it back first. */
async function tryCommit(place: RescuePlace, layer: Branch): Promise<boolean> {
  const { workspace, branch, keeper, actor, scope } = place
  if (await scope?.budget?.isOverdrawn()) return false
  const limit = await workspace.limitOf(branch.id)
  const author = { actor, time: workspace.clock.now() }
  const check = async (before: Snapshot, after: Snapshot): Promise<void> => {
    if (limit === undefined && !scope) return
    const changes = await diffPaths(workspace.stores.nodes, before, after)
    if (limit !== undefined) requireAllBelow(changes, limit)
    if (scope) requireChanges(scope.grant, changes)
  }
  try {
    await keeper.withTurn((epoch) =>
      commitLayer(workspace.stores, { layer, target: branch, author, epoch, check }),
    )
    return true
  } catch (error) {
    if (isCairnError(error) && kept.includes(error.code)) return false
    throw error
  }
}

/** A file of the layer may be elsewhere by now, so it is the merged change that must stay at the path. */
function requireAllBelow(changes: readonly PathChange[], limit: string): void {
  const names = namesOf(limit)
  const isOutside = ({ path, from }: PathChange): boolean =>
    !isBelow(path, names) || (from !== undefined && !isBelow(from, names))
  if (changes.some(isOutside))
    throw new CairnError('outside_layer', {
      what: 'commit late writes',
      reason: `some of them are outside of ${limit}`,
      subject: limit,
    })
}
