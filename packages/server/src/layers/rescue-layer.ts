import type { Branch } from '@cairn/core'
import type { ActorId } from '@cairn/protocol'
import { exactTime } from '../workspaces/clock.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { digest } from './once.ts'

/** Makes a layer that holds somebody's late writes one that people find, resolve and commit. Again is fine. */
export async function keepRescueLayer(
  workspace: Workspace,
  layer: Branch,
  parent: Branch,
  actor: ActorId,
): Promise<void> {
  const { layers, info, clock, stores } = workspace
  if (await layers.findByBranch(layer.id)) return
  const { base } = await stores.refs.getBranch(layer.id)
  const above = await layers.findByBranch(parent.id)
  await layers.create({
    workspace: info.id,
    id: `rescue_${digest(layer.id)}`,
    branch: layer.id,
    name: undefined,
    parent: above?.id ?? 'main',
    path: above?.path ?? '/',
    tags: { rescue: actor },
    state: 'conflicted',
    message: 'late writes of a session that had lost its lease',
    createdBy: actor,
    createdAt: exactTime(clock.now()),
    originRoot: base.root,
    originSeq: 0,
    version: 1,
  })
  // DURABLE: the layer can be found. Of two that note it at once, one wins, and both mean the same.
}
