import type { Branch } from '@cairn/core'
import type { OpenWorkspace } from './open-workspace.ts'

/**
 * Works on a branch as a writer of it: the lease holder submits what it acknowledged first, and
 * waits. Another server may have given the lease away since this one last looked, so it looks.
 */
export async function atBarrier<T>(
  workspace: OpenWorkspace,
  branch: Branch,
  work: (epoch: number) => Promise<T>,
): Promise<T> {
  const keeper = workspace.lease(branch)
  await keeper.look()
  return keeper.withTurn(async (epoch) => {
    await branch.refresh()
    return work(epoch)
  })
}

/** Resolves when all read-write mounts of a branch show what it is now. For those who changed it, after their barrier. */
export function whenShown(workspace: OpenWorkspace, branch: Branch): Promise<void> {
  return workspace.lease(branch).whenSeen(branch.head.position.seq)
}
