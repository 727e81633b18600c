import type { Branch } from '@cairn/core'
import type { ActorId } from '@cairn/protocol'
import { exactTime } from '../ports/clock.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import type { LayerRecord } from '../ports/layer-store.ts'
import { noteState } from './layers.ts'
import { digest } from '../once/once.ts'

/**
 * Makes the branch that holds a client's late writes a layer that people can find, resolve and
 * commit, and that expires like any other. Repeating it is fine, and records its current state.
 */
export async function keepRescueLayer(
  workspace: OpenWorkspace,
  layer: Branch,
  parent: Branch,
  actor: ActorId,
): Promise<void> {
  const found = await workspace.layers.findByBranch(layer.id)
  const record = found ?? (await make(workspace, layer, parent, actor))
  await noteState(workspace, { id: record.id, branch: layer, record })
}

async function make(
  workspace: OpenWorkspace,
  layer: Branch,
  parent: Branch,
  actor: ActorId,
): Promise<LayerRecord> {
  const { layers, info, clock, stores } = workspace
  const { base } = await stores.refs.getBranch(layer.id)
  const above = await layers.findByBranch(parent.id)
  const record: LayerRecord = {
    workspace: info.id,
    id: `rescue_${digest(layer.id)}`,
    branch: layer.id,
    name: undefined,
    parent: above?.id ?? 'main',
    path: above?.path ?? '/',
    tags: { rescue: actor },
    state: 'open',
    message: 'late writes of a session that had lost its lease',
    createdBy: actor,
    createdAt: exactTime(clock.now()),
    originRoot: base.root,
    originSeq: 0,
    version: 1,
  }
  await layers.create(record)
  // DURABLE: the layer can be found. Of two that note it at once, one wins, and both mean the same.
  return record
}
