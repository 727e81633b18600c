import type { BranchId } from '@cairn/protocol'
import type { Storage } from '../storage/open.ts'
import type { GoneBranch } from './gone.ts'
import type { Pool } from './pools.ts'

/**
 * Branches of layers that were never finished: a server ended between the branch and the layer's
 * row, or another one was quicker to take the name. No row says since when they are there, so the
 * collector remembers when it saw them first. A server that is about to finish one has long done so
 * by the end of a grace time.
 */
export class UnfinishedLayers {
  readonly #seenMs = new Map<BranchId, number>()

  /** Those that were seen by then. */
  async findDue(
    { survey }: Storage,
    pool: Pool,
    nowMs: number,
    dueMs: number,
  ): Promise<readonly GoneBranch[]> {
    const due: GoneBranch[] = []
    for (const workspace of pool.workspaces) {
      const { id } = workspace
      const branches = (await survey.branches(id)).filter((branch) => isOfLayer(id, branch))
      const finished = new Set(await survey.layerBranches(id))
      for (const branch of branches) {
        if (finished.has(branch)) this.#seenMs.delete(branch)
        else if (!this.#seenMs.has(branch)) this.#seenMs.set(branch, nowMs)
        if ((this.#seenMs.get(branch) ?? Infinity) <= dueMs) due.push({ id: branch, workspace })
      }
    }
    return due
  }

  forget(branch: BranchId): void {
    this.#seenMs.delete(branch)
  }
}

/** And no rescue layer of one. */
function isOfLayer(workspace: string, branch: BranchId): boolean {
  return /^layer-[^/]*$/.test(branch.slice(workspace.length + 1))
}
