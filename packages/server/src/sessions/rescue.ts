import {
  Branch,
  commitLayer,
  decodeBody,
  diffPaths,
  forkBranch,
  isBelow,
  namesOf,
  type Op,
  type Submission,
} from '@cairn/core'
import {
  type ActorId,
  type BranchId,
  type ErrorCode,
  isCairnError,
  type SessionId,
  type SessionRequest,
} from '@cairn/protocol'
import type { SessionScope } from '../access/session-scope.ts'
import { keepRescueLayer } from '../layers/rescue-layer.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { findEpochEnd } from './epoch-end.ts'
import type { LeaseKeeper } from './lease-keeper.ts'

type RescueRequest = Extract<SessionRequest, { type: 'rescue' }>

interface Place {
  readonly workspace: Workspace
  readonly branch: Branch
  readonly keeper: LeaseKeeper
  readonly actor: ActorId
  readonly scope?: SessionScope
}

const utf8 = new TextEncoder()
/** Why a branch does not take a rescue layer: somebody has to decide. */
const kept: readonly ErrorCode[] = ['layer_conflict', 'quota_exceeded', 'layer_closed']

/**
 * Takes in what a session had acknowledged and the branch did not take: under a lease it lost, mostly. The operations
 * go to a layer based on what the server had of that session when its epoch ended: there they fit, whatever others did
 * since. A request without a body ends it: the layer is committed if nothing conflicts, and kept for a person if
 * something does.
 *
 * Answers with `committed` or `kept`, and the layer's id.
 */
export async function rescue(
  place: Place,
  session: SessionId,
  request: RescueRequest,
): Promise<Uint8Array> {
  await place.keeper.forfeit(session, request.epoch)
  const layer = await openRescueLayer(place, session, request.epoch)
  if (request.body.length > 0) {
    const { time, ops } = decodeBody(request.body)
    const { number } = request
    const { epoch } = layer.head.position
    const check = checkOf(place, ops)
    await layer.submit({ session, number, epoch, actor: place.actor, time, ops, check })
    await keepRescueLayer(place.workspace, layer, place.branch, place.actor)
    // DURABLE: the late writes are in the layer's log, and somebody can find them.
    return utf8.encode(`kept ${layer.id}`)
  }
  const outcome = (await tryCommit(place, layer)) ? 'committed' : 'kept'
  await keepRescueLayer(place.workspace, layer, place.branch, place.actor)
  return utf8.encode(`${outcome} ${layer.id}`)
}

function checkOf({ workspace, scope }: Place, ops: readonly Op[]): Submission['check'] {
  const areStored = workspace.storedBlobs.checkOf(ops)
  if (!scope) return areStored
  return async (view) => {
    scope.requireStored(ops)
    await areStored?.()
    await workspace.stores.nodes.read(() => scope.requireAll(view, ops))
  }
}

async function openRescueLayer(
  { workspace, branch }: Place,
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

/** A commit is a write like any other: whoever holds the lease hands it back first, and a layer's path is its limit. */
async function tryCommit(
  { workspace, branch, keeper, actor }: Place,
  layer: Branch,
): Promise<boolean> {
  const limit = await workspace.limitOf(branch.id)
  if (limit !== undefined && !(await liesAt(workspace, layer, limit))) return false
  const author = { actor, time: workspace.clock.now() }
  try {
    await keeper.withTurn((epoch) =>
      commitLayer(workspace.stores, { layer, target: branch, author, epoch }),
    )
    return true
  } catch (error) {
    if (isCairnError(error) && kept.includes(error.code)) return false
    throw error
  }
}

async function liesAt({ stores }: Workspace, layer: Branch, path: string): Promise<boolean> {
  const { base } = await stores.refs.getBranch(layer.id)
  const { snapshot } = await layer.fold()
  const changes = await diffPaths(stores.nodes, base, snapshot)
  return changes.every((change) => isBelow(change.path, namesOf(path)))
}
