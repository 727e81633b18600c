import { type BranchRecord, type Checkpoint, Reach, type Snapshot, TreeReach } from '@cairn/core'
import { type BranchId, CairnError, hashBytes, type Hash, toByteString } from '@cairn/protocol'
import { isoTime, millisecondsOf } from '../ports/clock.ts'
import type { JournalKeeper } from '../journal/journal-keeper.ts'
import { type CheckpointLabel, listAll } from '../ports/layer-store.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import { BundleWriter } from './chain.ts'
import { type BundleHead, encodeHead, snapshotsOf } from './head.ts'
import { bundleMagic, encodeRow } from './records.ts'

const rowsAtOnce = 64
const journalsAtOnce = 100

/** An earlier bundle of the same workspace: what it has is left out. */
export interface EarlierBundle {
  readonly id: string
  readonly head: BundleHead
}

export interface BundleOptions {
  readonly earlier?: EarlierBundle | undefined
  /** Absent where a server keeps none. */
  readonly journals?: JournalKeeper | undefined
}

/**
 * A workspace as a bundle: branches with their logs, the trees that they stand on, checkpoints, layers and journals. Others may go on
 * writing. Of each branch it has what was folded when the bundle began.
 */
export async function writeBundle(
  workspace: OpenWorkspace,
  { earlier, journals }: BundleOptions,
): Promise<AsyncIterable<Uint8Array>> {
  if (earlier && earlier.head.workspace.id !== workspace.info.id)
    throw new CairnError('invalid_argument', {
      what: `export workspace '${workspace.info.name}'`,
      reason: 'the earlier bundle is of another workspace',
      hint: 'Export all of it, without --since.',
    })
  // What is wrong with the workspace is in the status, so it is described before anything is sent.
  return recordsOf(workspace, await describe(workspace, earlier), { earlier, journals })
}

async function* recordsOf(
  workspace: OpenWorkspace,
  head: BundleHead,
  { earlier, journals }: BundleOptions,
): AsyncGenerator<Uint8Array> {
  const { nodes, blobs, log } = workspace.stores
  const writer = new BundleWriter()
  yield Buffer.from(bundleMagic)
  yield* writer.record('head', await encodeHead(head))
  const before = new Map(earlier?.head.branches.map(({ id, folded }) => [id, folded.seq]))
  for (const { id, folded } of head.branches)
    for (let seq = before.get(id) ?? 0; seq < folded.seq;)
      for (const row of await log.read(id, seq, Math.min(rowsAtOnce, folded.seq - seq))) {
        yield* writer.record('row', encodeRow({ branch: id, row }))
        seq = row.seq
      }
  const reach = await reachOf(workspace, head)
  const known = await knownOf(workspace, earlier ? snapshotsOf(earlier.head) : [])
  for (const hash of reach.nodes)
    if (!known.nodes.has(hash)) yield* writer.record('node', (await nodes.load(hash)).bytes)
  for (const id of reach.blobs) {
    if (known.blobs.has(id)) continue
    const { stored } = await blobs.readSealed(id)
    yield* writer.record('blob', Buffer.concat([Buffer.from(id, 'latin1'), stored]))
  }
  if (journals)
    for await (const line of linesOf(journals, workspace.info.id))
      yield* writer.record('journal', Buffer.from(line))
  yield* writer.record('end', new Uint8Array())
}

/** Whole journals, one after the other, also where an earlier bundle has a part of them. */
async function* linesOf(journals: JournalKeeper, workspace: string): AsyncGenerator<string> {
  for (let after = ''; ;) {
    const { items } = await journals.list(workspace, after, journalsAtOnce)
    for (const { journal } of items) yield* journals.export(workspace, journal)
    if (items.length < journalsAtOnce) return
    after = items.at(-1)!.journal
  }
}

/** The hash and the stored form of a blob in its record. */
export function splitBlob(payload: Uint8Array): { readonly id: Hash; readonly stored: Uint8Array } {
  const id = toByteString(payload.subarray(0, hashBytes)) as Hash
  return { id, stored: payload.subarray(hashBytes) }
}

async function describe(
  workspace: OpenWorkspace,
  earlier: EarlierBundle | undefined,
): Promise<BundleHead> {
  const { info, layers, clock, stores } = workspace
  const all = await listAll(layers, info.id, {})
  // Layers before what they are committed to. The other way round, a commit in between would be in the layer's state alone.
  const ids = [...all.toReversed().map(({ branch }) => branch), (await workspace.branch('main')).id]
  const branches: BranchRecord[] = []
  const checkpoints: Checkpoint[] = []
  const labels: CheckpointLabel[] = []
  for (const id of ids) {
    const record = await folded(workspace, id)
    branches.push(record)
    const own = await stores.refs.listCheckpoints(id)
    checkpoints.push(...own.filter(({ seq }) => seq <= record.folded.seq))
    labels.push(...(await layers.listLabels(id)))
  }
  const kept = new Set(checkpoints.map(({ branch, id }) => `${branch} ${id}`))
  const settings = await Promise.all(
    ['main', ...all.map(({ id }) => id)].map(async (layer) => ({
      layer,
      settings: await layers.findSettings(info.id, layer),
    })),
  )
  const { id, name, createdAt } = info
  return {
    workspace: { id, name, createdAt, nextIno: await workspace.takeInodes(1) },
    exportedAt: isoTime(clock.now()),
    since: earlier?.id,
    branches,
    checkpoints,
    labels: labels.filter((label) => kept.has(`${label.branch} ${label.id}`)),
    layers: all,
    settings: settings.filter((each) => Object.keys(each.settings).length > 0),
  }
}

async function folded(workspace: OpenWorkspace, id: BranchId): Promise<BranchRecord> {
  const branch = await workspace.openBranch(id)
  await branch.refresh()
  await branch.fold()
  return workspace.stores.refs.getBranch(id)
}

async function reachOf(
  { stores, clock, keep }: Pick<OpenWorkspace, 'stores' | 'clock' | 'keep'>,
  head: BundleHead,
): Promise<Reach> {
  const reach = new Reach(stores, pause(stores))
  for (const snapshot of snapshotsOf(head)) await reach.addSnapshot(snapshot)
  // What a rollback left may be brought back, and a collector looks for it.
  const sinceMs = clock.nowMs() - keep.retentionMs
  for (const { id } of head.branches)
    await reach.addBranch(id, (time) => millisecondsOf(time) > sinceMs)
  return reach
}

/** What was collected since is not known: then the bundle has it once more. */
async function knownOf(
  { stores }: Pick<OpenWorkspace, 'stores'>,
  snapshots: readonly Snapshot[],
): Promise<TreeReach> {
  const known = new TreeReach(stores.nodes, pause(stores), () => {})
  for (const snapshot of snapshots) await known.addSnapshot(snapshot)
  return known
}

function pause({ nodes: { pacer } }: OpenWorkspace['stores']): () => Promise<void> | void {
  return () => (pacer.isDue() ? pacer.rest() : undefined)
}
