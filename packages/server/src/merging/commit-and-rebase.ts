import { randomUUID } from 'node:crypto'
import {
  type Branch,
  commitLayer,
  type CommitOutcome,
  diffPaths,
  isClosedState,
  LayerConflictError,
  mapPaced,
  readLayer,
  rebaseLayer,
} from '@cairn/core'
import {
  CairnError,
  type CheckpointId,
  type CommitReceipt,
  formatHash,
  isCairnError,
  type RootReceipt,
} from '@cairn/protocol'
import { isoTime } from '../ports/clock.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import type { Asker } from '../workspaces/path-changes.ts'
import { atBarrier, whenShown } from '../workspaces/barrier.ts'
import { findCommitted, noteCommit } from '../once/commit-points.ts'
import { decisionsOf } from './decisions.ts'
import { describeChange } from '../points/describe.ts'
import { noteStateIfThere } from '../layers/layers.ts'
import { type MergeSides, type RealPlace, mergeSidesOf, tryMerge } from './merge-sides.ts'
import { digest, once } from '../once/once.ts'
import { authorOf, readBatch, rootReceipt } from './root-receipt.ts'
import { findCheckpoint, findRealLayer, type LayerPlace, targetOf } from '../points/references.ts'

/** Puts a layer's changes on top of its parent as it is now. */
export async function rebase(
  workspace: OpenWorkspace,
  asker: Asker,
  reference: string,
  wishes: Omit<CommitRequest, 'checkpoint'>,
): Promise<RootReceipt> {
  return once(
    workspace,
    asker,
    { what: 'rebase', layer: reference, options: wishes },
    async (key) => {
      const { mergeText, message } = wishes
      const place = await findRealLayer(workspace, reference, 'rebase')
      const { branch: layer } = place
      const { branch: target } = await targetOf(workspace, place)
      const { session, ...author } = authorOf(workspace, asker, key)
      const options = { layer, target, author, session, mergeText, message }
      const receipt = await atBarrier(workspace, target, () =>
        atBarrier(workspace, layer, (epoch) =>
          rebaseLayer(workspace.stores, { ...options, epoch }),
        ),
      )
      await whenShown(workspace, layer)
      workspace.quotas.forget(layer.id)
      await noteStateIfThere(workspace, place)
      return rootReceipt(workspace, place.id, layer, receipt)
    },
  )
}

export interface CommitRequest {
  readonly message: string
  readonly mergeText: boolean
  readonly checkpoint: string | undefined
}

/** Applies a layer to its parent, all or nothing. Rejects with `layer_conflict` and every conflict. */
export async function commit(
  workspace: OpenWorkspace,
  asker: Asker,
  reference: string,
  options: CommitRequest,
): Promise<CommitReceipt> {
  return once(workspace, asker, { what: 'commit', layer: reference, options }, async (key) =>
    commitPlace(
      workspace,
      asker,
      await findRealLayer(workspace, reference, 'commit'),
      options,
      key,
    ),
  )
}

export async function commitPlace(
  workspace: OpenWorkspace,
  asker: Asker,
  place: RealPlace,
  options: CommitRequest,
  key: string,
): Promise<CommitReceipt> {
  return describeCommit(workspace, place, await applyPlace(workspace, asker, place, options, key))
}

/** The same for a layer that no client knows: gives the sequence number alone, and does not list what changed. */
export async function commitUnseen(
  workspace: OpenWorkspace,
  asker: Asker,
  reference: string,
  options: CommitRequest,
): Promise<number> {
  const place = await findRealLayer(workspace, reference, 'commit')
  return (await applyPlace(workspace, asker, place, options, digest(randomUUID()))).seq
}

interface Applied extends CommitOutcome {
  readonly targetId: string
  readonly target: Branch
  readonly sides: Pick<MergeSides, 'base' | 'layer' | 'target' | 'resolutions'>
  readonly mergeText: boolean
}

async function applyPlace(
  workspace: OpenWorkspace,
  asker: Asker,
  place: RealPlace,
  options: CommitRequest,
  key: string,
): Promise<Applied> {
  try {
    for (;;) {
      const { id, branch } = await targetOf(workspace, place)
      try {
        return await commitTo(workspace, asker, place, { id, branch }, options, key)
      } catch (error) {
        if (!(await isOvertaken(error, place, branch, options))) throw error
      }
    }
  } finally {
    workspace.quotas.forget(place.branch.id)
    // Also when it met a conflict: the layer is conflicted now.
    await noteStateIfThere(workspace, place)
  }
}

/** Whether something else came first that makes it a commit of another head, or to another target. */
async function isOvertaken(
  error: unknown,
  { branch: layer }: RealPlace,
  target: Branch,
  { checkpoint }: CommitRequest,
): Promise<boolean> {
  if (isCairnError(error, 'checkpoint_outdated')) return checkpoint === undefined
  if (!isCairnError(error, 'layer_closed')) return false
  await layer.refresh()
  await target.refresh()
  const isOpen = !isClosedState(layer.head.position.state)
  return isOpen && target.head.position.state === 'committed'
}

async function commitTo(
  workspace: OpenWorkspace,
  { actor, toolCall }: Asker,
  place: RealPlace,
  { id: targetId, branch: target }: Pick<LayerPlace, 'id' | 'branch'>,
  { message, mergeText, checkpoint }: CommitRequest,
  key: string,
): Promise<Applied> {
  const { stores, clock } = workspace
  const { branch: layer } = place
  const given =
    (await findCommitted(workspace, layer, target, key)) ??
    (checkpoint === undefined ? undefined : await findCheckpoint(workspace, place, checkpoint))
  const author = { actor, time: clock.now(), toolCall }
  const applied = await atBarrier(workspace, layer, async () => {
    const { base, resolutions, point } = await readLayer(stores, layer)
    const { seq, snapshot } = given ?? point
    await noteCommit(workspace, key, { seq, snapshot, base: base.root })
    const id = checkpoint === undefined ? {} : { id: checkpoint as CheckpointId }
    const options = { layer, target, author, message, mergeText, at: { ...id, seq, snapshot } }
    const commit = (epoch: number): Promise<CommitOutcome> =>
      commitLayer(stores, { ...options, epoch })
    const receipt = await atBarrier(workspace, target, commit)
    return { ...receipt, sides: { base, layer: snapshot, target: receipt.before, resolutions } }
  })
  await whenShown(workspace, target)
  return { ...applied, targetId, target, mergeText }
}

async function describeCommit(
  workspace: OpenWorkspace,
  place: RealPlace,
  { seq, before, after, sides, targetId, target, mergeText }: Applied,
): Promise<CommitReceipt> {
  const { nodes } = workspace.stores
  const batch = await readBatch(workspace, target, seq)
  const changes = await diffPaths(nodes, before, after)
  return {
    layer: place.id,
    target: targetId,
    seq,
    before: formatHash(before.root),
    after: formatHash(after.root),
    paths: await mapPaced(nodes.pacer, changes, describeChange),
    resolved: await decisionsOf(workspace, sides, mergeText),
    actor: batch.actor,
    time: isoTime(batch.time),
    message: batch.body.type === 'root' ? batch.body.change.message : '',
    dryRun: false,
  }
}

/** The receipt that a commit would have, or the conflict that it would meet. */
export async function tryCommit(
  workspace: OpenWorkspace,
  asker: Asker,
  reference: string,
  { message, mergeText, checkpoint }: CommitRequest,
): Promise<CommitReceipt> {
  const place = await findRealLayer(workspace, reference, 'commit')
  const standing = await mergeSidesOf(workspace, place)
  if (place.branch.head.position.state === 'abandoned')
    throw new CairnError('layer_closed', {
      what: `commit layer ${place.id}`,
      reason: 'it is abandoned',
      subject: place.id,
    })
  const at =
    checkpoint === undefined ? undefined : await findCheckpoint(workspace, place, checkpoint)
  const layer = at?.snapshot ?? standing.layer
  const sides = { ...standing, layer }
  const result = await tryMerge(workspace, sides, mergeText)
  if (result.type === 'conflicted')
    throw new LayerConflictError(place.branch.id, result.conflicts, sides)
  const { target } = standing
  const changes = await diffPaths(workspace.stores.nodes, target, result.snapshot)
  return {
    layer: place.id,
    target: standing.parent.id,
    before: formatHash(target.root),
    after: formatHash(result.snapshot.root),
    paths: await mapPaced(workspace.stores.nodes.pacer, changes, describeChange),
    resolved: await decisionsOf(workspace, sides, mergeText),
    actor: asker.actor,
    time: isoTime(workspace.clock.now()),
    message,
    dryRun: true,
  }
}
