import { type Steps, TreeView, type View } from '@cairn/core'
import type { Point } from './references.ts'
import type { Branches } from '../workspaces/branches.ts'

/** Reads a branch as it is, or as it was at the point. */
export function readPoint<T>(
  workspace: Pick<Branches, 'stores' | 'read'>,
  { branch, snapshot }: Point,
  read: (view: View) => T,
): Promise<T> {
  if (!snapshot) return workspace.read(branch, read)
  const { nodes } = workspace.stores
  return nodes.read(() => read(new TreeView(nodes, snapshot)))
}

/** The same in steps. The branch may change between two of them, so each must make sense by itself. */
export function readPointInSteps<T>(
  { stores: { nodes } }: Pick<Branches, 'stores'>,
  { branch, snapshot }: Point,
  read: (view: View) => Steps<T>,
): Promise<T> {
  return nodes.readSteps(() => read(snapshot ? new TreeView(nodes, snapshot) : branch.head.view))
}
