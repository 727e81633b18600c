import {
  type Author,
  type Branch,
  commitLayer,
  type CommitReceipt as CoreReceipt,
  decodeBatch,
  diffPaths,
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
  type PickReceipt,
  type ResolveReceipt,
  type RootReceipt,
  type SessionId,
} from '@cairn/protocol'
import { isoTime } from '../workspaces/clock.ts'
import type { Asker, Workspace } from '../workspaces/workspace.ts'
import { atBarrier } from './barrier.ts'
import { findCommitted, noteCommit } from './commit-notes.ts'
import { decisionsOf } from './decisions.ts'
import { describeChange, describeConflict } from './describe.ts'
import { namesOf } from './guard.ts'
import { abandonPlace, noteState } from './layers.ts'
import { conflictsOf, type RealPlace, rivalsOf, standingOf, tryMerge } from './merging.ts'
import { once } from './once.ts'
import {
  findCheckpoint,
  findLayer,
  findRealLayer,
  findToolCall,
  placeOf,
  targetOf,
} from './references.ts'

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
  { to, beforeToolCall }: RollbackTarget,
): Promise<RootReceipt> {
  return once(workspace, asker, 'roll back', async (key) => {
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
  return once(workspace, asker, 'undo', async (key) => {
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
  { mergeText, message }: Omit<CommitOptions, 'checkpoint'>,
): Promise<RootReceipt> {
  return once(workspace, asker, 'rebase', async () => {
    const place = await findRealLayer(workspace, reference, 'rebase')
    const { branch: layer } = place
    const { branch: target } = await targetOf(workspace, place)
    const author = { actor: asker.actor, time: workspace.clock.now() }
    const seq = await atBarrier(workspace, target, () =>
      atBarrier(workspace, layer, async (epoch) => {
        await rebaseLayer(workspace.stores, { layer, target, author, mergeText, message, epoch })
        return lastRebase(workspace, layer)
      }),
    )
    await noteState(workspace, place)
    return rootReceipt(workspace, place.id, layer, { seq })
  })
}

async function lastRebase({ stores: { log } }: Workspace, { id }: Branch): Promise<number> {
  const session = `rebase:${id}` as SessionId
  return (await log.find(id, session, await log.lastNumber(id, session)))!.seq
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
  return once(workspace, asker, 'commit', async (key) =>
    commitPlace(
      workspace,
      asker,
      await findRealLayer(workspace, reference, 'commit'),
      options,
      key,
    ),
  )
}

async function commitPlace(
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
  const author = { actor, time: clock.now() }
  try {
    const done = await atBarrier(workspace, layer, async () => {
      const { seq, snapshot } = given ?? (await layer.fold())
      await noteCommit(workspace, key, { seq, snapshot })
      const { base, resolutions } = await stores.refs.getBranch(layer.id)
      const at = { id: (checkpoint ?? 'head') as CheckpointId, seq, snapshot }
      const options = { layer, target, author, message, mergeText, at }
      const commit = (epoch: number): Promise<CoreReceipt> =>
        commitLayer(stores, { ...options, epoch })
      const receipt = await atBarrier(workspace, target, commit)
      return { ...receipt, sides: { base, layer: snapshot, target: receipt.before, resolutions } }
    })
    const { seq, before, after, changes, sides } = done
    const batch = await readBatch(workspace, target, seq)
    return {
      layer: place.id,
      target: targetId,
      seq,
      before: formatHash(before.root),
      after: formatHash(after.root),
      paths: changes.map(describeChange),
      resolved: await decisionsOf(workspace, sides, mergeText),
      actor: batch.actor,
      time: isoTime(batch.time),
      message: batch.body.type === 'root' ? batch.body.change.message : '',
      dryRun: false,
    }
  } finally {
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
  if (place.branch.head.position.state === 'abandoned')
    throw new CairnError('layer_closed', {
      message: `cannot commit layer ${place.id}: it is abandoned`,
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
    paths: changes.map(describeChange),
    resolved: await decisionsOf(workspace, sides, mergeText),
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

/** Decides all conflicts at a path. The next commit or rebase goes by it. */
export async function resolve(
  workspace: Workspace,
  asker: Asker,
  reference: string,
  { path, take }: ResolveOptions,
): Promise<ResolveReceipt> {
  return once(workspace, asker, 'resolve', async () => {
    const place = await findRealLayer(workspace, reference, 'resolve')
    const absolute = namesOf(path.startsWith('/') ? path : `${place.record.path}/${path}`)
    const wanted = absolute.join('/')
    const conflicts = await conflictsOf(workspace, await standingOf(workspace, place))
    const resolved = conflicts.filter(({ path, layer, target, base }) =>
      [path, layer?.path, target?.path, base?.path].some((each) => each?.join('/') === wanted),
    )
    if (resolved.length === 0)
      throw new CairnError('conflict_missing', {
        message: `cannot resolve ${formatPath(absolute)} of layer ${place.id}: it is not in conflict`,
        subject: formatPath(absolute),
      })
    const choice =
      typeof take === 'string'
        ? ({ type: take } as const)
        : ({ type: 'bytes', bytes: take } as const)
    for (const { id } of resolved)
      await resolveConflict(workspace.stores, place.branch.id, { conflict: id, choice })
    // DURABLE: the decision stands for as long as the parent leaves the thing as it is.
    const left = await conflictsOf(workspace, await standingOf(workspace, place))
    return {
      layer: place.id,
      resolved: resolved.map(describeConflict),
      conflicts: left.map(describeConflict),
    }
  })
}

/** Commits one of several attempts, and abandons those that started from the same base at the same path. */
export async function pick(
  workspace: Workspace,
  asker: Asker,
  reference: string,
  options: CommitOptions,
): Promise<PickReceipt> {
  return once(workspace, asker, 'pick', async (key) => {
    const place = await findRealLayer(workspace, reference, 'pick')
    const rivals = await rivalsOf(workspace, place)
    const receipt = await commitPlace(workspace, asker, place, options, key)
    const abandoned: string[] = []
    for (const record of rivals) {
      const rival = await placeOf(workspace, record)
      await abandonPlace(workspace, asker, rival)
      await noteState(workspace, rival)
      abandoned.push(record.id)
    }
    return { commit: receipt, abandoned }
  })
}

/** What a pick would commit and abandon, or the conflict that it would meet. */
export async function tryPick(
  workspace: Workspace,
  asker: Asker,
  reference: string,
  options: CommitOptions,
): Promise<PickReceipt> {
  const place = await findRealLayer(workspace, reference, 'pick')
  const rivals = await rivalsOf(workspace, place)
  const receipt = await tryCommit(workspace, asker, reference, options)
  return { commit: receipt, abandoned: rivals.map(({ id }) => id) }
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
  const { body, actor, time } = await readBatch(workspace, branch, seq)
  if (body.type !== 'root') throw new Error(`batch ${seq} of ${branch.id} changes no root`)
  const { before, after } = body.change
  const paths = await diffPaths(workspace.stores.nodes, before, after)
  return {
    layer,
    seq,
    before: formatHash(before.root),
    after: formatHash(after.root),
    paths: paths.map(describeChange),
    actor,
    time: isoTime(time),
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
