import { findBase } from '@cairn/core'
import { type Hash, isCairnError, type PickReceipt } from '@cairn/protocol'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import type { Asker } from '../workspaces/path-changes.ts'
import { findCommitted } from '../once/commit-points.ts'
import { abandonPlace, noteState } from '../layers/layers.ts'
import { type RealPlace, siblingsOf } from './merge-sides.ts'
import { once } from '../once/once.ts'
import { findRealLayer, placeOf, targetOf } from '../points/references.ts'
import { type CommitRequest, commitPlace, tryCommit } from './commit-and-rebase.ts'

/** Commits one of several attempts, and abandons those that started from the same base at the same path. */
export async function pick(
  workspace: OpenWorkspace,
  asker: Asker,
  reference: string,
  options: CommitRequest,
): Promise<PickReceipt> {
  return once(workspace, asker, { what: 'pick', layer: reference, options }, async (key) => {
    const place = await findRealLayer(workspace, reference, 'pick')
    const commit = await commitPlace(workspace, asker, place, options, key)
    const abandoned: string[] = []
    for (const id of await noteRivals(workspace, place, key))
      if (await giveUp(workspace, asker, id)) abandoned.push(id)
    return { commit, abandoned }
  })
}

/** What a pick would commit and abandon, or the conflict that it would meet. */
export async function tryPick(
  workspace: OpenWorkspace,
  asker: Asker,
  reference: string,
  options: CommitRequest,
): Promise<PickReceipt> {
  const place = await findRealLayer(workspace, reference, 'pick')
  const { base } = await findBase(workspace.stores, place.branch)
  const abandoned = await findRivals(workspace, place, base.root)
  return { commit: await tryCommit(workspace, asker, reference, options), abandoned }
}

/**
 * Recorded before the first of them is abandoned: a repetition after a crash means the same ones.
 */
async function noteRivals(
  workspace: OpenWorkspace,
  place: RealPlace,
  key: string,
): Promise<readonly string[]> {
  const { layers, info } = workspace
  const noteKey = `rivals:${key}`
  if ((await layers.findAnswer(info.id, noteKey)) === undefined) {
    const rivals = await findRivals(workspace, place, await pickedBase(workspace, place, key))
    await layers.putAnswer(info.id, noteKey, JSON.stringify(rivals))
  }
  return JSON.parse((await layers.findAnswer(info.id, noteKey))!) as string[]
}

async function findRivals(
  workspace: OpenWorkspace,
  place: RealPlace,
  base: Hash,
): Promise<readonly string[]> {
  const rivals: string[] = []
  for (const record of await siblingsOf(workspace, place.record)) {
    if (record.path !== place.record.path) continue
    const { branch } = await placeOf(workspace, record)
    if ((await findBase(workspace.stores, branch)).base.root === base) rivals.push(record.id)
  }
  return rivals
}

/** What the layer stood on when it was committed. What came late has another base by now. */
async function pickedBase(workspace: OpenWorkspace, place: RealPlace, key: string): Promise<Hash> {
  const { branch: target } = await targetOf(workspace, place)
  const committed = await findCommitted(workspace, place.branch, target, key)
  return committed?.base ?? (await findBase(workspace.stores, place.branch)).base.root
}

/** False for one that is over in another way, or gone. */
async function giveUp(workspace: OpenWorkspace, asker: Asker, id: string): Promise<boolean> {
  const record = await workspace.layers.find(workspace.info.id, id)
  if (!record) return false
  const rival = await placeOf(workspace, record)
  try {
    await abandonPlace(workspace, asker, rival)
  } catch (error) {
    if (!isCairnError(error, 'layer_closed')) throw error
  }
  return (await noteState(workspace, rival)).state === 'abandoned'
}
