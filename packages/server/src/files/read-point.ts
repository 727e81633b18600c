import { TreeView, type View } from '@cairn/core'
import type { Point } from '../layers/references.ts'
import type { Workspace } from '../workspaces/workspace.ts'

/** Reads a branch as it is, or as it was at the point. */
export function readPoint<T>(
  workspace: Pick<Workspace, 'stores' | 'read'>,
  { branch, snapshot }: Point,
  read: (view: View) => T,
): Promise<T> {
  if (!snapshot) return workspace.read(branch, read)
  const { nodes } = workspace.stores
  return nodes.read(() => read(new TreeView(nodes, snapshot)))
}
