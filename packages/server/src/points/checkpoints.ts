import { type Checkpoint, makeCheckpoint } from '@cairn/core'
import type { CheckpointId, CheckpointInfo } from '@cairn/protocol'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import type { Asker } from '../workspaces/path-changes.ts'
import { atBarrier } from '../workspaces/barrier.ts'
import { describeCheckpoint } from './describe.ts'
import { checkpointMissing } from './errors.ts'
import { once } from '../once/once.ts'
import { findCheckpoint, findLayer } from './references.ts'

export interface CheckpointNames {
  readonly id?: string | undefined
  readonly label?: string | undefined
  readonly toolCall?: string | undefined
}

/** Names a branch as it is now, with all that its live mounts have acknowledged. */
export async function createCheckpoint(
  workspace: OpenWorkspace,
  asker: Asker,
  reference: string,
  options: CheckpointNames,
): Promise<CheckpointInfo> {
  const { id, label = '', toolCall } = options
  return once(workspace, asker, { what: 'checkpoint', layer: reference, options }, async (key) => {
    const { branch } = await findLayer(workspace, reference)
    const names = { id: (id ?? `cp_${key}`) as CheckpointId, label, time: workspace.clock.now() }
    const checkpoint = await atBarrier(workspace, branch, () =>
      makeCheckpoint(workspace.stores, branch, names),
    )
    const noted = {
      workspace: workspace.info.id,
      branch: branch.id,
      id: checkpoint.id,
      label,
      toolCall,
    }
    await workspace.layers.putLabel(noted)
    // DURABLE: the checkpoint can be found.
    return describeCheckpoint(checkpoint, noted)
  })
}

/** Oldest first. Those that the server makes for itself are left out. */
export async function listCheckpoints(
  workspace: OpenWorkspace,
  reference: string,
): Promise<readonly CheckpointInfo[]> {
  const { branch } = await findLayer(workspace, reference)
  const noted = new Map(
    (await workspace.layers.listLabels(branch.id)).map((label) => [label.id, label]),
  )
  const all: readonly Checkpoint[] = await workspace.stores.refs.listCheckpoints(branch.id)
  // Nothing need have been written between two of them.
  const bySeqAndTime = (a: Checkpoint, b: Checkpoint): number =>
    a.seq - b.seq || a.time.sec - b.time.sec || a.time.nsec - b.time.nsec
  return all
    .filter(({ id }) => noted.has(id))
    .sort(bySeqAndTime)
    .map((checkpoint) => describeCheckpoint(checkpoint, noted.get(checkpoint.id)))
}

export async function deleteCheckpoint(
  workspace: OpenWorkspace,
  reference: string,
  checkpoint: string,
): Promise<void> {
  const place = await findLayer(workspace, reference)
  const { id } = await findCheckpoint(workspace, place, checkpoint)
  if (!(await workspace.layers.removeLabel(place.branch.id, id)))
    throw checkpointMissing(checkpoint, place.id)
}
