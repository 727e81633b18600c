import {
  Branch,
  findBase,
  isBelow,
  isClosedState,
  namesOf,
  type Receipt,
  requireSameBase,
  sessionIds,
  type Snapshot,
  type Stores,
} from '@cairn/core'
import { type BranchId, CairnError, formatPath } from '@cairn/protocol'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import type { Asker } from '../workspaces/path-changes.ts'
import { atBarrier } from '../workspaces/barrier.ts'
import type { LayerRecord } from '../ports/layer-store.ts'
import { findCheckpoint, findLayer, type LayerPlace } from './references.ts'

/** Where a new layer begins. */
export interface StartingPoint {
  readonly parent: LayerPlace
  readonly path: string
  readonly base: Snapshot
  /** The place of the base in the parent's log. */
  readonly seq: number
  /** What it has from the start, of a layer that is over. */
  readonly work?: { readonly of: LayerRecord; readonly snapshot: Snapshot }
}

export interface StartOptions {
  /** A layer; `main` unless given. */
  readonly parent?: string | undefined
  /** The parent's own path unless given. */
  readonly path?: string | undefined
  /** A checkpoint of the parent, to start from; its head unless given. */
  readonly at?: string | undefined
}

/**
 * The head of a layer that is worked on, or one of its checkpoints. A layer that is over takes no
 * commits: a layer made from it stands beside it, with its base and its work, which may be
 * committed again.
 */
export async function findStart(
  workspace: OpenWorkspace,
  options: StartOptions,
): Promise<StartingPoint> {
  const place = await findLayer(workspace, options.parent ?? 'main')
  const { record, branch } = place
  const path = options.path ?? record?.path ?? '/'
  const named =
    options.at === undefined ? place.checkpoint : await findCheckpoint(workspace, place, options.at)
  await branch.refresh()
  if (record && isClosedState(branch.head.position.state)) {
    requireAround(record, path)
    return startBeside(workspace, { ...place, record }, path, named)
  }
  requireInside(place, path)
  const { snapshot, seq } = named ?? (await atBarrier(workspace, branch, () => place.branch.fold()))
  return { parent: place, path, base: snapshot, seq }
}

async function startBeside(
  workspace: OpenWorkspace,
  { branch, record }: LayerPlace & { readonly record: LayerRecord },
  path: string,
  named: LayerPlace['checkpoint'],
): Promise<StartingPoint> {
  const { stores } = workspace
  if (named) await requireSameBase(stores, branch, named)
  const base = await findFirstBase(stores, branch)
  const parent = await findLayer(workspace, record.parent)
  requireInside(parent, path)
  const { snapshot } = named ?? (await branch.fold())
  return { parent, path, base, seq: record.originSeq, work: { of: record, snapshot } }
}

/**
 * For a committed layer: all of its commits may be made again, because the parent may have been
 * rolled back since.
 */
async function findFirstBase(stores: Stores, branch: Branch): Promise<Snapshot> {
  const { base, firstBase } = await findBase(stores, branch)
  const isCommitted = branch.head.position.state === 'committed'
  return isCommitted && firstBase !== undefined ? { ...base, root: firstBase } : base
}

/** Puts a new branch on the work of a layer that is over: whose lines they are is found there. */
export async function takeWork(
  { stores, clock }: Pick<OpenWorkspace, 'stores' | 'clock'>,
  { actor }: Asker,
  id: BranchId,
  { of, snapshot }: NonNullable<StartingPoint['work']>,
): Promise<Receipt> {
  const branch = await Branch.open(stores, id)
  const session = sessionIds.forkSession(id)
  const after = { ...snapshot, orphans: stores.nodes.emptyRoot }
  const change = { cause: 'commit', after, subject: of.branch, message: of.message } as const
  return branch.changeRoot(
    { actor, session, number: 1, time: clock.now() },
    async ({ snapshot: before }) => ({ ...change, before }),
  )
}

function requireInside({ record, id }: LayerPlace, path: string): void {
  if (isBelow(namesOf(path), namesOf(record?.path ?? '/'))) return
  throw outside(path, `its parent ${id} is of ${formatPath(namesOf(record!.path))}`)
}

function requireAround({ id, path: worked }: LayerRecord, path: string): void {
  if (isBelow(namesOf(worked), namesOf(path))) return
  throw outside(path, `${id}, which is over, has work of ${formatPath(namesOf(worked))}`)
}

function outside(path: string, why: string): CairnError {
  const subject = formatPath(namesOf(path))
  const what = `make a layer of ${subject}`
  return new CairnError('outside_layer', { what, reason: why, subject })
}
