import { totalmem } from 'node:os'

const budgetMax = 128 << 20

/** For what a mount knows of the tree: an eighth of the memory that this machine, or its cgroup, has. */
export function memoryBudget(): number {
  // Zero, or more than there is, without a cgroup that limits it.
  const limit = process.constrainedMemory() || Infinity
  return Math.min(budgetMax, Math.floor(Math.min(totalmem(), limit) / 8))
}
