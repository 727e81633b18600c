import type { BranchId } from '@cairn/protocol'
import type { Snapshot } from '../ports/records.ts'
import { genesis } from '../history/batch.ts'
import { storeNewTree } from '../history/new-tree.ts'
import type { BranchRecord } from '../ports/ref-store.ts'
import type { Stores } from '../history/stores.ts'

/** Starts a branch with an empty tree. */
export async function createBranch(stores: Stores, id: BranchId): Promise<void> {
  await stores.refs.createBranch(newBranch(id, undefined, await storeNewTree(stores.nodes)))
}

/**
 * Starts a branch from a snapshot of another: one row, whatever the size of the tree. With a parent it is a
 * layer, to be committed back there; without one it is a fork and lives on its own.
 */
export async function forkBranch(
  stores: Stores,
  id: BranchId,
  snapshot: Snapshot,
  parent?: BranchId,
): Promise<void> {
  // A file that is open on the other branch is not open on this one.
  const base = { ...snapshot, orphans: stores.nodes.emptyRoot }
  await stores.refs.createBranch(newBranch(id, parent, base))
  // DURABLE: the branch exists.
}

function newBranch(id: BranchId, parent: BranchId | undefined, base: Snapshot): BranchRecord {
  const folded = { seq: 0, hash: genesis, epoch: 1, state: 'open', snapshot: base } as const
  return { id, parent, base, baseSeq: 0, next: [], folded, resolutions: [], version: 1 }
}
