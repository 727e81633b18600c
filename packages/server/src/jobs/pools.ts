import { Blobs, Nodes, ScratchStore, type Stores } from '@cairn/core'
import type { BranchId } from '@cairn/protocol'
import { loopPacer } from '../ports/pacer.ts'
import { contentWorker, sha256 } from '../ports/content-worker.ts'
import type { Storage } from '../storage/open.ts'
import type { SurveyedWorkspace } from '../storage/survey-table.ts'
import type { GoneBranch } from './gone.ts'

/** Each node is read once: what is kept in memory is of no use. */
const nodeCacheBytes = 4 << 20

/** Workspaces that share their nodes and blobs. */
export interface Pool {
  readonly id: string
  readonly workspaces: readonly SurveyedWorkspace[]
  readonly stores: Stores
}

export async function listPools({ survey, nodes, blobs, log, refs }: Storage): Promise<Pool[]> {
  const pools = new Map<string, SurveyedWorkspace[]>()
  for (const workspace of await survey.workspaces())
    pools.set(workspace.pool, [...(pools.get(workspace.pool) ?? []), workspace])
  return [...pools].map(([id, workspaces]) => {
    const stores = {
      nodes: new Nodes({
        store: nodes(id),
        hash: sha256,
        cacheBytesMax: nodeCacheBytes,
        pacer: loopPacer,
      }),
      blobs: new Blobs(blobs(id), contentWorker),
      log,
      refs,
    }
    return { id, workspaces, stores }
  })
}

/** The same content, to be worked on in memory: nothing of it is written. */
export function scratchStores(
  { nodes, blobs }: Storage,
  { id }: Pool,
): Pick<Stores, 'nodes' | 'blobs'> {
  const store = new ScratchStore(nodes(id))
  return {
    nodes: new Nodes({ store, hash: sha256, cacheBytesMax: nodeCacheBytes }),
    blobs: new Blobs(new ScratchStore(blobs(id)), contentWorker),
  }
}

export interface SortedBranches {
  readonly live: readonly BranchId[]
  readonly gone: readonly GoneBranch[]
}

/** The branches of a pool: those that are in use, and those that were deleted before `end`. */
export async function sortBranches(
  { survey }: Storage,
  { workspaces }: Pool,
  end: string,
): Promise<SortedBranches> {
  const live: BranchId[] = []
  const gone: GoneBranch[] = []
  for (const workspace of workspaces) {
    const { id, deletedAt } = workspace
    const isGone = deletedAt !== undefined && deletedAt < end
    const dropped = await survey.deletedLayers(id, end)
    for (const branch of await survey.branches(id))
      if (isGone || dropped.has(branch))
        gone.push({ id: branch, workspace, layer: dropped.get(branch) })
      else live.push(branch)
  }
  return { live, gone }
}
