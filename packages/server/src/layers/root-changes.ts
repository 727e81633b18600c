import {
  type Author,
  type Branch,
  type Choice,
  commitLayer,
  type Conflict,
  decodeBatch,
  diffPaths,
  findBase,
  LayerConflictError,
  rebaseLayer,
  type Receipt,
  resolveConflict,
  rollback,
  undoRollback,
} from '@cairn/core'
import {
  CairnError,
  type CheckpointId,
  type CommitReceipt,
  formatHash,
  formatPath,
  type Name,
  type ResolveReceipt,
  type RootReceipt,
  type SessionId,
} from '@cairn/protocol'
import { isoTime } from '../workspaces/clock.ts'
import type { Asker, Workspace } from '../workspaces/workspace.ts'
import { atBarrier } from './barrier.ts'
import { findCommitted, noteCommit } from './commit-notes.ts'
import { describeChange, describeConflict } from './describe.ts'
import { namesOf } from './guard.ts'
import { noteState } from './layers.ts'
import { conflictsOf, type RealPlace, standingOf, tryMerge } from './merging.ts'
import { digest, once } from './once.ts'
import { findCheckpoint, findLayer, findRealLayer, findToolCall, targetOf } from './references.ts'

export interface RollbackTarget {
  /** A checkpoint; the base unless given. */
  readonly to?: string | undefined
  /** Instead: the checkpoint that was made for this call. */
  readonly beforeToolCall?: string | undefined
}

export async function rollBack(
  workspace: Workspace,
  asker: Asker,
  reference: string,
  options: RollbackTarget,
): Promise<RootReceipt> {
  const { to, beforeToolCall } = options
  return once(workspace, asker, { what: 'roll back', layer: reference, options }, async (key) => {
    const place = await findLayer(workspace, reference)
    const named = to === undefined ? place.checkpoint : undefined
    const checkpoint =
      beforeToolCall === undefined
        ? (named ?? (await findCheckpoint(workspace, place, to ?? 'base')))
        : await findToolCall(workspace, place, beforeToolCall)
    const { branch } = place
    const receipt = await atBarrier(workspace, branch, (epoch) =>
      rollback(workspace.stores, branch, authorOf(workspace, asker, key), checkpoint, epoch),
    )
    return rootReceipt(workspace, place.id, branch, receipt)
  })
}

export async function undo(
  workspace: Workspace,
  asker: Asker,
  reference: string,
): Promise<RootReceipt> {
  return once(workspace, asker, { what: 'undo', layer: reference }, async (key) => {
    const { id, branch } = await findLayer(workspace, reference)
    const receipt = await atBarrier(workspace, branch, (epoch) =>
      undoRollback(workspace.stores, branch, authorOf(workspace, asker, key), epoch),
    )
    return rootReceipt(workspace, id, branch, receipt)
  })
}

/** Puts a layer's changes on top of its parent as it is now. */
export async function rebase(
  workspace: Workspace,
  asker: Asker,
  reference: string,
  wishes: Omit<CommitOptions, 'checkpoint'>,
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
      workspace.quotas.forget(layer.id)
      await noteState(workspace, place)
      return rootReceipt(workspace, place.id, layer, receipt)
    },
  )
}

export interface CommitOptions {
  readonly message: string
  readonly mergeText: boolean
  readonly checkpoint: string | undefined
}

/** Applies a layer to its parent, all or nothing. Rejects with `layer_conflict` and every conflict. */
export async function commit(
  workspace: Workspace,
  asker: Asker,
  reference: string,
  options: CommitOptions,
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
  workspace: Workspace,
  { actor }: Asker,
  place: RealPlace,
  { message, mergeText, checkpoint }: CommitOptions,
  key: string,
): Promise<CommitReceipt> {
  const { stores, clock } = workspace
  const { branch: layer } = place
  const { id: targetId, branch: target } = await targetOf(workspace, place)
  const given =
    (await findCommitted(workspace, layer, target, key)) ??
    (checkpoint === undefined ? undefined : await findCheckpoint(workspace, place, checkpoint))
  const { base, resolutions } = await findBase(stores, layer)
  const author = { actor, time: clock.now() }
  try {
    const { seq, before, after, changes } = await atBarrier(workspace, layer, async () => {
      const { seq, snapshot } = given ?? (await layer.fold())
      await noteCommit(workspace, key, { seq, snapshot, base: base.root })
      const at = { id: (checkpoint ?? 'head') as CheckpointId, seq, snapshot }
      const options = { layer, target, author, message, mergeText, at }
      return atBarrier(workspace, target, (epoch) => commitLayer(stores, { ...options, epoch }))
    })
    const batch = await readBatch(workspace, target, seq)
    return {
      layer: place.id,
      target: targetId,
      seq,
      before: formatHash(before.root),
      after: formatHash(after.root),
      paths: changes.map(describeChange),
      resolved: resolutions.length,
      actor: batch.actor,
      time: isoTime(batch.time),
      message: batch.body.type === 'root' ? batch.body.change.message : '',
      dryRun: false,
    }
  } finally {
    workspace.quotas.forget(layer.id)
    // Also when it met a conflict: the layer is conflicted now.
    await noteState(workspace, place)
  }
}

/** The receipt that a commit would have, or the conflict that it would meet. */
export async function tryCommit(
  workspace: Workspace,
  asker: Asker,
  reference: string,
  { message, mergeText, checkpoint }: CommitOptions,
): Promise<CommitReceipt> {
  const place = await findRealLayer(workspace, reference, 'commit')
  const standing = await standingOf(workspace, place)
  const at =
    checkpoint === undefined ? undefined : await findCheckpoint(workspace, place, checkpoint)
  const layer = at?.snapshot ?? standing.layer
  const result = await tryMerge(workspace, { ...standing, layer }, mergeText)
  if (result.type === 'conflicted') throw new LayerConflictError(place.branch.id, result.conflicts)
  const { target } = standing
  const changes = await diffPaths(workspace.stores.nodes, target, result.snapshot)
  return {
    layer: place.id,
    target: standing.parent.id,
    before: formatHash(target.root),
    after: formatHash(result.snapshot.root),
    paths: changes.map(describeChange),
    resolved: standing.resolutions.length,
    actor: asker.actor,
    time: isoTime(workspace.clock.now()),
    message,
    dryRun: true,
  }
}

export interface ResolveOptions {
  /** Absolute, or relative to the layer's path. */
  readonly path: string
  readonly take: 'layer' | 'target' | Uint8Array
}

/** Decides all conflicts at a path, as they are with all that live mounts have acknowledged. The next commit or rebase goes by it. */
export async function resolve(
  workspace: Workspace,
  asker: Asker,
  reference: string,
  { path, take }: ResolveOptions,
): Promise<ResolveReceipt> {
  const options = { path, take: typeof take === 'string' ? take : digest(take) }
  return once(workspace, asker, { what: 'resolve', layer: reference, options }, async () => {
    const place = await findRealLayer(workspace, reference, 'resolve')
    const absolute = namesOf(path.startsWith('/') ? path : `${place.record.path}/${path}`)
    const choice: Choice =
      typeof take === 'string' ? { type: take } : { type: 'bytes', bytes: take }
    const resolved = await atBarrier(workspace, place.branch, () =>
      decideAt(workspace, place, absolute, choice),
    )
    // DURABLE: the decision stands for as long as the thing stays as it is.
    const left = await conflictsOf(workspace, await standingOf(workspace, place))
    return {
      layer: place.id,
      resolved: resolved.map(describeConflict),
      conflicts: left.map(describeConflict),
    }
  })
}

async function decideAt(
  workspace: Workspace,
  place: RealPlace,
  path: readonly Name[],
  choice: Choice,
): Promise<readonly Conflict[]> {
  const wanted = path.join('/')
  const conflicts = await conflictsOf(workspace, await standingOf(workspace, place))
  const decided = conflicts.filter(({ path, layer, target, base }) =>
    [path, layer?.path, target?.path, base?.path].some((each) => each?.join('/') === wanted),
  )
  if (decided.length === 0)
    throw new CairnError('conflict_missing', {
      message: `cannot resolve ${formatPath(path)} of layer ${place.id}: it is not in conflict`,
      subject: formatPath(path),
    })
  for (const { id } of decided)
    await resolveConflict(workspace.stores, place.branch.id, { conflict: id, choice })
  return decided
}

function authorOf({ clock }: Workspace, { actor }: Asker, key: string): Author {
  return { actor, session: `layer:${key}` as SessionId, number: 1, time: clock.now() }
}

async function rootReceipt(
  workspace: Workspace,
  layer: string,
  branch: Branch,
  { seq }: Pick<Receipt, 'seq'>,
): Promise<RootReceipt> {
  const { body } = await readBatch(workspace, branch, seq)
  if (body.type !== 'root') throw new Error(`batch ${seq} of ${branch.id} changes no root`)
  const { before, after } = body.change
  const paths = await diffPaths(workspace.stores.nodes, before, after)
  return {
    layer,
    seq,
    before: formatHash(before.root),
    after: formatHash(after.root),
    paths: paths.map(describeChange),
  }
}

async function readBatch(
  { stores }: Workspace,
  { id }: Branch,
  seq: number,
): Promise<ReturnType<typeof decodeBatch>> {
  const [row] = await stores.log.read(id, seq - 1, 1)
  return decodeBatch(row!.bytes)
}
